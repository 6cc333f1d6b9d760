import type { App } from './signing-request.ts'

export type ConnectUrlOptions = {
  /** The key of the resource. */
  resource: string
  /** The requested scopes, separated by spaces. */
  scope: string
  /** A registered redirect URI of your app. */
  redirectUri: string
  /** Returned with the response. Accept only a response with the value that this browser was given. */
  state: string
  /** `background` to act also while the user is away. Default: `user_present`. */
  mode?: 'user_present' | 'background' | undefined
  /** The identity that should consent, if your app knows it. */
  identityId?: string | undefined
  /** The user's organization, if your app is used for one. */
  organizationId?: string | undefined
  /** S256 code challenge of a verifier that your app stores (RFC 7636 §4.2). */
  codeChallenge?: string | undefined
}

/** Returns the URL of the page on which a user lets your app act at a resource. */
export function connectUrl(
  { authUrl, clientId }: Pick<App, 'authUrl' | 'clientId'>,
  requested: ConnectUrlOptions,
): string {
  const { resource, scope, redirectUri, state, mode, identityId, organizationId, codeChallenge } = requested
  if (!state) throw new TypeError('state must be an unpredictable string')
  const url = new URL('/connect', authUrl)
  const parameters = { client_id: clientId, redirect_uri: redirectUri, resource, scope, state, mode }
  const proof = codeChallenge === undefined ? {} : { code_challenge: codeChallenge, code_challenge_method: 'S256' }
  const person = { identity_id: identityId, organization_id: organizationId }
  for (const [name, value] of Object.entries({ ...parameters, ...person, ...proof }))
    if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}
