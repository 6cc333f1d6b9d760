/** The messages between a peer and the bench that started it, over the channel between the two processes. */
export type Ready = {
  /** The process to measure, if it is not the peer's own. */
  pid?: number | undefined
  token: string
  userinfo: string
  introspection: string
  keySet: string
  discovery: string
  clientId: string
  clientSecret: string
}

export const clientId = 'bench'
export const clientSecret = 'a-secret-of-the-bench-that-is-long-enough'
export const redirectUri = 'https://app.example/callback'
export const scope = 'openid profile offline_access'

/** What the peers know of their user. */
export const claims = {
  name: 'Ada Lovelace',
  preferred_username: 'ada',
  picture: 'https://app.example/ada.png',
  updated_at: 1_900_000_000,
}

/** Returns the query of an authorization request for a PKCE challenge. */
export function authorizationQuery(client: string, challenge: string): string {
  return new URLSearchParams({
    client_id: client,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    state: 'a-state-of-usual-length',
    nonce: 'a-nonce-of-usual-length',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }).toString()
}

/** Sends the peer's address to the bench when it is ready. */
export function sendReady(ready: Ready): void {
  process.send?.(ready)
}

/** Answers each list of PKCE challenges from the bench with as many codes. */
export function onOrder(makeCodes: (challenges: string[]) => Promise<string[]>): void {
  process.on('message', (challenges: string[]) => {
    makeCodes(challenges).then(
      (codes) => process.send?.(codes),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`)
        process.exit(1)
      },
    )
  })
  process.once('disconnect', () => process.exit(0))
}
