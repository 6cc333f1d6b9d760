import type { FastifyRequest } from 'fastify'
import { limits } from '@countersign/protocol/formats/limits'
import type { SessionEntry } from '@countersign/protocol/accounts/sessions'
import type { SsoSessionUse } from '@countersign/protocol/endpoint'
import { type IdentityId, type OrganizationId, type SessionId, type UserId, asId } from '@countersign/protocol/ids'
import { addSeconds } from '#platform/clock.ts'
import type { BatchedQuery } from '#platform/database/batching.ts'
import type { Database } from '#platform/database/database.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { guard, type Guard } from '#platform/http/guard.ts'
import { bearerToken } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { parseToken, uuidFromBytes } from '#platform/crypto/token-format.ts'
import { verifyBusinessToken, signBusinessToken } from './business-token.ts'
import { requireShownUser, sessionCookie } from './cookie.ts'
import { deleteEndedSessions } from './ending-store.ts'
import { allowsEnterpriseSession } from './sso-session.ts'
import { ownKey } from './own-key.ts'
import { isRecentlyAuthenticated } from './proof.ts'
import * as store from './store.ts'
import type { LimitedTo, SessionRow } from './store.ts'

/** Fields of every session. `expiresAt` is the expiry if the session stays unused. */
type AnySession = {
  sessionId: SessionId
  userId: UserId
  authTime: Date
  expiresAt: Date
  /** Browser that opened the session. */
  userAgent: string | null
}

/**
 * Session that a passkey opened. It covers all identities of its user. `provedRequestSha256` is the hash of the
 * reference of the authorization request for which the passkey was used at `authTime`, or null.
 */
export type PasskeySession = AnySession & { authMethod: 'passkey'; provedRequestSha256: Uint8Array | null }

/** Session that SSO alone opened. It covers one identity of its user, for one organization. */
export type SsoSession = AnySession & {
  authMethod: 'enterprise_sso'
  identityId: IdentityId
  organizationId: OrganizationId
}

/** Session of a signed-in user, by the authentication method that opened it. */
export type Session = PasskeySession | SsoSession

/**
 * Session of a passkey that a recovery link brought. It covers one identity of its user, and reaches only endpoints
 * that declare it. Until `holdUntil` another passkey of the account undoes the recovery.
 */
export type RecoveredSession = AnySession &
  LimitedTo & { authMethod: 'recovered_passkey'; provedRequestSha256: Uint8Array | null }

/** User who acts: as any of their identities, or only as the one to which the session is limited. */
export type SessionSubject =
  | Pick<PasskeySession, 'authMethod' | 'userId'>
  | Pick<SsoSession | RecoveredSession, 'authMethod' | 'userId' | 'identityId'>

const errors = defineErrors({
  unauthorized: [401, 'Authentication required.'],
  invalid_origin: [403, 'Cookie-authenticated requests must come from an origin of this service.'],
  reauthentication_required: [403, 'Recent authentication required. Authenticate again with a passkey.'],
  passkey_required: [403, 'A session opened by enterprise SSO cannot do this. Sign in with a passkey.'],
  recovery_hold: [409, 'A passkey of a recovery opens one identity only. Enter the recovery code first.'],
  recovery_limited: [403, 'A passkey of a recovery opens one identity only. Enter the recovery code first.'],
})

const seenAgainAfterSeconds = 60

/**
 * Methods that add rows. Ending something is never limited: a stolen session must not keep its owner from signing it
 * out.
 */
const addingMethods = ['POST', 'PUT', 'PATCH']

/**
 * Authenticates requests by a session, from a bearer token or cookie. SSO sessions and those of recovered passkeys
 * reach only endpoints that allow them. Every request that adds or changes something counts against the rate limit,
 * because most add an event to the audit log, which is kept for years.
 *
 * Throws `unauthorized`, `invalid_origin`, `session_changed`, `passkey_required`, `recovery_hold`, `recovery_limited`
 * or `rate_limited`.
 */
export function sessionGuard(kernel: ServerContext) {
  const { clock, rateLimits } = kernel

  async function prove(request: FastifyRequest): Promise<Session | RecoveredSession> {
    const session = await findRequestSession(kernel, request)
    if (!session) throw errors.unauthorized()
    requireShownUser(session, request)
    return requireAllowed(session, request, clock())
  }

  async function proveAndCount(request: FastifyRequest): Promise<Session | RecoveredSession> {
    const session = await prove(request)
    if (addingMethods.includes(request.method)) await rateLimits.count('changes-per-user', ownKey(session, clock()))
    return session
  }

  return byEndpoint(guard(proveAndCount, prove), clock)
}

/** Finds the session of a request, from a bearer token or cookie. Throws `invalid_origin`. */
export async function findRequestSession(
  kernel: ServerContext,
  request: FastifyRequest,
): Promise<Session | RecoveredSession | undefined> {
  const { db, clock, config } = kernel
  const bearer = request.headers.authorization === undefined ? undefined : (bearerToken(request) ?? '')
  const token = bearer ?? sessionCookie(request, config.baseUrl)
  if (token === undefined) return undefined
  if (bearer === undefined) requireOurPage(request, config)
  const now = clock()
  const row = await findByToken(kernel, token)
  return (row && (await liveSession(db, row, now))) ?? readBusinessSession(kernel, request, now)
}

const finders = new WeakMap<ServerContext['batched'], BatchedQuery<SessionRow>>()

/** Finds a session by its token, in a statement that all guards share. */
async function findByToken({ batched }: ServerContext, token: string): Promise<SessionRow | undefined> {
  const find = finders.get(batched) ?? batched<SessionRow>(store.findSessionStatement)
  finders.set(batched, find)
  const route = parseToken('session', token, 16)
  return route && find([uuidFromBytes(route), sha256(token)])
}

type Accepting = { ssoSession: SsoSessionUse; recoveredSession: boolean }
type RequestTo<Accepted extends Partial<Accepting>> = FastifyRequest & { routeOptions: { config: Accepted } }
type OnlyPasskey = RequestTo<{ ssoSession: 'nothing'; recoveredSession: false }>

/** Types the session of a request by what its endpoint accepts. */
function byEndpoint({ onRequest, of }: Guard<Session | RecoveredSession>, clock: () => Date) {
  function ofEndpoint(request: OnlyPasskey): PasskeySession
  function ofEndpoint(
    request: RequestTo<{ ssoSession: 'nothing'; recoveredSession: true }>,
  ): PasskeySession | RecoveredSession
  function ofEndpoint(request: RequestTo<{ recoveredSession: true }>): Session | RecoveredSession
  function ofEndpoint(request: FastifyRequest): Session
  function ofEndpoint(request: FastifyRequest): Session | RecoveredSession {
    return requireAllowed(of(request), request, clock())
  }
  return { onRequest, of: ofEndpoint }
}

/**
 * Throws `passkey_required` for a session that only SSO opened, and `recovery_hold` or `recovery_limited` for one of a
 * recovered passkey, unless the endpoint accepts it.
 */
function requireAllowed<Kind extends Session | RecoveredSession>(
  session: Kind,
  request: FastifyRequest,
  now: Date,
): Kind {
  if (session.authMethod === 'recovered_passkey' ? allowsRecovered(request) : allowsSession(session, request))
    return session
  throw refusalOf(session, now)
}

function allowsRecovered({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.recoveredSession === true
}

function allowsSession({ authMethod }: Pick<Session, 'authMethod'>, request: FastifyRequest): boolean {
  return authMethod === 'passkey' || allowsEnterpriseSession(request)
}

/** Returns the error for a session that a passkey of the whole account did not open. */
function refusalOf(session: Session | RecoveredSession, now: Date) {
  if (session.authMethod !== 'recovered_passkey') return errors.passkey_required()
  const { holdUntil } = session
  return now < holdUntil
    ? errors.recovery_hold({ fields: { holdUntil: holdUntil.toISOString() } })
    : errors.recovery_limited()
}

/** Throws `passkey_required`, `recovery_hold` or `recovery_limited` unless the session covers the whole account. */
export function requireWholeAccount(session: Session | RecoveredSession, now: Date): asserts session is PasskeySession {
  if (session.authMethod !== 'passkey') throw refusalOf(session, now)
}

/**
 * Creates a token by which a page acts for this session at the business host. Only pages of the business host and of
 * the passkey host, which wraps its keys, receive it. They cannot read the session cookie. Throws `invalid_origin`.
 */
export async function createBusinessToken(
  kernel: ServerContext,
  { sessionId }: Session,
  { headers }: Pick<FastifyRequest, 'headers'>,
  now: Date,
) {
  const { businessUrl, authUrl } = kernel.config
  if (headers.origin !== businessUrl.origin && headers.origin !== authUrl.origin) throw errors.invalid_origin()
  const businessToken = await signBusinessToken(kernel, sessionId, now)
  return { businessToken, expiresInSeconds: limits.businessTokenLifetimeSeconds }
}

/** Browser of a sign-in: its user agent and the session token that it sent. */
export type ClientBrowser = { userAgent: string | undefined; earlierToken: string | undefined }

export function clientBrowser(request: FastifyRequest, baseUrl: URL): ClientBrowser {
  return { userAgent: request.headers['user-agent'], earlierToken: sessionCookie(request, baseUrl) }
}

/** Returns the description of a browser for the audit log, by which its owner recognizes it. */
export function deviceOf({ userAgent }: ClientBrowser): string {
  return userAgent?.slice(0, limits.userAgentCharactersMax) ?? ''
}

/** Finds the session of the cookie that a browser sent. Requests without a page of this service can use it too. */
export async function findSessionByToken(
  db: Database,
  { earlierToken }: ClientBrowser,
  now: Date,
): Promise<Session | RecoveredSession | undefined> {
  return earlierToken === undefined ? undefined : readSession(db, earlierToken, now)
}

/** Finds the session of a FedCM token. Only passkey sessions have one. */
export async function sessionOfFederatedToken(
  db: Database,
  token: string,
  now: Date,
): Promise<PasskeySession | undefined> {
  const route = parseToken('federated', token, 16)
  const row = route && (await store.findSession(db, asId<SessionId>(uuidFromBytes(route))))
  if (!row?.federatedSha256 || !equalBytes(row.federatedSha256, sha256(token))) return undefined
  const session = await liveSession(db, row, now)
  return session?.authMethod === 'passkey' ? session : undefined
}

/** Lists the sessions of a user, most recently used first. */
export async function listSessions(
  db: Database,
  { userId, sessionId }: Pick<Session, 'userId' | 'sessionId'>,
  now: Date,
): Promise<SessionEntry[]> {
  const rows = await store.listSessionsOfUser(db, userId)
  return rows
    .filter((row) => now < expiryOf(row))
    .map((row) => ({
      sessionId: row.sessionId,
      createdAt: row.createdAt.toISOString(),
      lastSeenAt: row.lastSeenAt.toISOString(),
      userAgent: row.userAgent,
      current: row.sessionId === sessionId,
      authMethod: row.authMethod,
      passkey: row.credentialId && row.passkeyName ? { credentialId: row.credentialId, name: row.passkeyName } : null,
    }))
}

/**
 * Throws `reauthentication_required` if the last authentication is older than five minutes, and like
 * `requireWholeAccount`.
 */
export function requireRecentAuthentication(
  session: Session | RecoveredSession,
  now: Date,
): asserts session is PasskeySession {
  requireWholeAccount(session, now)
  if (!isRecentlyAuthenticated(session, now)) throw errors.reauthentication_required()
}

/** Deletes up to `batch` sessions that have ended. Returns their number. */
export function pruneSessions(db: Database, now: Date, batch: number): Promise<number> {
  return deleteEndedSessions(db, { now, lastSeen: addSeconds(now, -limits.sessionIdleSeconds) }, batch)
}

/** Finds the session of a token. Updates the time of last use at most once a minute. */
async function readSession(db: Database, token: string, now: Date): Promise<Session | RecoveredSession | undefined> {
  const route = parseToken('session', token, 16)
  if (!route) return undefined
  const row = await store.findSession(db, asId<SessionId>(uuidFromBytes(route)))
  if (!row || !equalBytes(row.tokenSha256, sha256(token))) return undefined
  return liveSession(db, row, now)
}

/** Finds the session of a business token, if the request is to the business host. */
async function readBusinessSession(
  kernel: ServerContext,
  request: FastifyRequest,
  now: Date,
): Promise<Session | RecoveredSession | undefined> {
  const bearer = bearerToken(request)
  if (bearer === undefined || request.routeOptions.config.host !== 'business') return undefined
  const sessionId = await verifyBusinessToken(kernel, bearer, now)
  const row = sessionId === undefined ? undefined : await store.findSession(kernel.db, sessionId)
  return row && liveSession(kernel.db, row, now)
}

async function liveSession(db: Database, row: SessionRow, now: Date): Promise<Session | RecoveredSession | undefined> {
  if (now >= expiryOf(row)) return undefined
  if (now < addSeconds(row.lastSeenAt, seenAgainAfterSeconds)) return toSession(row)
  await store.touchSession(db, row.sessionId, now)
  return toSession({ ...row, lastSeenAt: now })
}

function toSession(row: SessionRow): Session | RecoveredSession {
  const { sessionId, userId, authTime, authMethod, identityId, organizationId, holdUntil, provedRequestSha256 } = row
  const session = { sessionId, userId, authTime, expiresAt: expiryOf(row), userAgent: row.userAgent }
  if (authMethod === 'passkey') return { ...session, authMethod, provedRequestSha256 }
  if (authMethod === 'recovered_passkey') {
    if (identityId === null || holdUntil === null) throw new Error(`recovered session ${sessionId} names no identity`)
    return { ...session, authMethod, identityId, holdUntil, provedRequestSha256 }
  }
  if (identityId === null || organizationId === null)
    throw new Error(`SSO session ${sessionId} names no identity or no organization`)
  return { ...session, authMethod, identityId, organizationId }
}

/** Returns the expiry: thirty days after the last use, and at most ninety days after creation. */
export function expiryOf({ lastSeenAt, expiresAt }: { lastSeenAt: Date; expiresAt: Date }): Date {
  const idleEnd = addSeconds(lastSeenAt, limits.sessionIdleSeconds)
  return idleEnd < expiresAt ? idleEnd : expiresAt
}

/** Throws `invalid_origin` unless a page of this service sent the request. Browsers attach cookies to any request. */
export function requireOurPage({ headers }: FastifyRequest, { authUrl, businessUrl }: ServerContext['config']): void {
  const { origin } = headers
  const isOurs =
    origin === undefined
      ? headers['sec-fetch-site'] === 'same-origin'
      : origin === authUrl.origin || origin === businessUrl.origin
  if (!isOurs) throw errors.invalid_origin()
}
