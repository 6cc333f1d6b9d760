import type { FastifyReply, FastifyRequest } from 'fastify'
import { shownUserHeader } from '@countersign/protocol/accounts/sessions'
import { limits } from '@countersign/protocol/formats/limits'
import { asId, type UserId } from '@countersign/protocol/ids'
import { defineErrors } from '#platform/api-error.ts'
import type { RecoveredSession, Session, SsoSession } from './session.ts'

const errors = defineErrors({
  session_changed: [409, 'The session is not of the user that Countersign-User names. Get the current session again.'],
})

const strict = '__Host-countersign'
const plain = 'countersign'
const federated = '__Host-countersign-fedcm'
const nameOf = (secure: boolean) => (secure ? [strict] : [strict, plain])

/** Tokens of a session in clear text: for pages and, if allowed, for FedCM sign-ins. */
export type SessionTokens = { token: string; federatedToken: string | undefined }

/**
 * Sets the session's cookies on the API host, and tells the browser whether it can offer this user to apps (Login
 * Status API). On `http://localhost` some browsers reject the `__Host-` prefix, so there the token is also sent under
 * the plain name.
 */
export function setSessionCookies(reply: FastifyReply, { token, federatedToken }: SessionTokens, baseUrl: URL): void {
  setCookies(reply, { token, federatedToken: federatedToken ?? '' }, baseUrl)
}

export function clearSessionCookies(reply: FastifyReply, baseUrl: URL): void {
  setCookies(reply, { token: '', federatedToken: '' }, baseUrl)
}

/** Sets these cookies, or clears those without a value. */
function setCookies(reply: FastifyReply, { token, federatedToken }: Record<keyof SessionTokens, string>, baseUrl: URL) {
  for (const name of nameOf(baseUrl.protocol === 'https:')) reply.header('set-cookie', cookie(name, token, 'Lax'))
  // Requests that a browser sends for an app's page carry only SameSite=None cookies.
  reply.header('set-cookie', cookie(federated, federatedToken, 'None'))
  reply.header('set-login', federatedToken === '' ? 'logged-out' : 'logged-in')
}

/**
 * Returns the session token from the request's cookies. The plain name is accepted only if the API is served without
 * TLS.
 */
export function sessionCookie(request: FastifyRequest, baseUrl: URL): string | undefined {
  return soleCookie(request, nameOf(baseUrl.protocol === 'https:'))
}

/** Returns the token of a FedCM request, which the browser sends for an app's page. */
export function federatedCookie(request: FastifyRequest): string | undefined {
  return soleCookie(request, [federated])
}

/**
 * Returns the value of the first of these cookies that the request has exactly once. If there are two, one could come
 * from another host.
 */
export function soleCookie(request: FastifyRequest, names: string[]): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='))
  for (const name of names) {
    const values = pairs.filter(([key]) => key === name).map(([, value]) => value)
    if (values.length === 1) return values[0]
  }
  return undefined
}

function cookie(name: string, value: string, sameSite: 'Lax' | 'None'): string {
  const secure = name === plain ? '' : '; Secure'
  const lifetimeSeconds = value === '' ? 0 : limits.sessionLifetimeSeconds
  return `${name}=${value}; Path=/; Max-Age=${lifetimeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`
}

type ShownSession =
  | Pick<Exclude<Session, SsoSession> | RecoveredSession, 'authMethod' | 'userId'>
  | Pick<SsoSession, 'authMethod' | 'identityId'>

/**
 * Returns the ID of a session's user, as its browser knows it. An organization can open an SSO session as each of its
 * members: it must not learn which of them are one user, so the ID of the identity stands for that of the account.
 */
export function shownUserId(session: ShownSession): UserId {
  return session.authMethod === 'enterprise_sso' ? asId<UserId>(session.identityId) : session.userId
}

/**
 * Throws `session_changed` if the request is for another user than that of its session. A page that was left open names
 * the user that it shows. Without that, it would act for another user who has since signed in in another tab.
 */
export function requireShownUser(session: ShownSession, { headers }: Pick<FastifyRequest, 'headers'>): void {
  const shown = headers[shownUserHeader]
  if (shown !== undefined && String(shown).toLowerCase() !== shownUserId(session)) throw errors.session_changed()
}
