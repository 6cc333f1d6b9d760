/** Name in session storage, which belongs to this tab alone: no link can make the page join by itself. */
const intentKey = 'joining'

/** What the user has chosen on this page before they left to sign in. */
export type JoinIntent = { token: string; identityId?: string; verifyEmail?: boolean }

/** The part of a token that names its invitation. The secret is never stored. */
function nameIn(token: string): string {
  return token.slice('cs_invite_'.length, 'cs_invite_'.length + 42)
}

export function noteIntent({ token, ...intent }: JoinIntent): void {
  try {
    sessionStorage.setItem(intentKey, JSON.stringify({ ...intent, token: nameIn(token) }))
  } catch {
    // Without storage the user chooses again after signing in.
  }
}

/** Takes what the user chose in this tab for an invitation. It counts once. */
export function takeIntent(token: string): JoinIntent | undefined {
  try {
    const noted = sessionStorage.getItem(intentKey)
    sessionStorage.removeItem(intentKey)
    const intent: unknown = JSON.parse(noted ?? 'null')
    return isIntent(intent) && intent.token === nameIn(token) ? intent : undefined
  } catch {
    return undefined
  }
}

function isIntent(value: unknown): value is JoinIntent {
  if (typeof value !== 'object' || value === null || !('token' in value) || typeof value.token !== 'string')
    return false
  const isText = !('identityId' in value) || typeof value.identityId === 'string'
  return isText && (!('verifyEmail' in value) || typeof value.verifyEmail === 'boolean')
}
