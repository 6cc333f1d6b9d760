import type { App } from './signing-request.ts'

export type WantedConsent = {
  /** The key of the resource. */
  resource: string
  /** What your app wants to do there, with spaces between the scopes. */
  scope: string
  /** Where the person comes back to: one of the addresses with which your app is registered. */
  redirectUri: string
  /** Comes back with the answer. Take no answer with another than this browser was given. */
  state: string
  /** `background` to act also while the person is away; `user_present` if not given. */
  mode?: 'user_present' | 'background' | undefined
  /** As whom the person should consent, where your app knows it. */
  identityId?: string | undefined
  /** For which of their organizations, where your app is used for one. */
  organizationId?: string | undefined
  /** S256 of a verifier that your app keeps for the code (RFC 7636 §4.2). */
  codeChallenge?: string | undefined
}

/** The page on which a person lets your app act at a resource. */
export function connectUrl({ authUrl, clientId }: Pick<App, 'authUrl' | 'clientId'>, wanted: WantedConsent): string {
  const { resource, scope, redirectUri, state, mode, identityId, organizationId, codeChallenge } = wanted
  if (!state) throw new TypeError('state is a text that nobody can guess')
  const url = new URL('/connect', authUrl)
  const parameters = { client_id: clientId, redirect_uri: redirectUri, resource, scope, state, mode }
  const proof = codeChallenge === undefined ? {} : { code_challenge: codeChallenge, code_challenge_method: 'S256' }
  const person = { identity_id: identityId, organization_id: organizationId }
  for (const [name, value] of Object.entries({ ...parameters, ...person, ...proof }))
    if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}
