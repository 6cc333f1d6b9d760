import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { limits } from '@countersign/protocol/formats/limits'
import type { SessionEntry } from '@countersign/protocol/accounts/sessions'
import { type IdentityId, type OrganizationId, type SessionId, type UserId, asId } from '@countersign/protocol/ids'
import { addSeconds } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { guard, type Guard } from '#platform/http/guard.ts'
import { bearerToken } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { generateToken, parseToken, uuidFromBytes, uuidToBytes } from '#platform/crypto/token-format.ts'
import { verifyBusinessToken, signBusinessToken } from './business-token.ts'
import { sessionCookie } from './cookie.ts'
import { allowsEnterpriseSession, recordSsoAuthentication, transferSsoAuthentication } from './sso-session.ts'
import { passOnAppSessions } from '#accounts/backchannel-logout/logout.ts'
import { ownKey } from './own-key.ts'
import { isRecentlyAuthenticated } from './proof.ts'
import * as store from './store.ts'
import type { NewSession, SessionRow } from './store.ts'

/** Fields of every session. `expiresAt` is the expiry if the session stays unused. */
type AnySession = { sessionId: SessionId; userId: UserId; authTime: Date; expiresAt: Date }

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

/** User who acts: as any of their identities, or only as the one of an SSO session. */
export type SessionSubject =
  | Pick<PasskeySession, 'authMethod' | 'userId'>
  | Pick<SsoSession, 'authMethod' | 'userId' | 'identityId'>

const errors = defineErrors({
  unauthorized: [401, 'Authentication required.'],
  invalid_origin: [403, 'Cookie-authenticated requests must come from an origin of this service.'],
  reauthentication_required: [403, 'Recent authentication required. Authenticate again with a passkey.'],
  passkey_required: [403, 'A session opened by enterprise SSO cannot do this. Sign in with a passkey.'],
})

const seenAgainAfterSeconds = 60

/**
 * Methods that add rows. Ending something is never limited: a stolen session must not keep its owner from signing it
 * out.
 */
const addingMethods = ['POST', 'PUT', 'PATCH']

/**
 * Authenticates requests by a session, from a bearer token or cookie. SSO sessions reach only endpoints that allow
 * them. Every request that adds or changes something counts against the rate limit, because most add an event to the
 * audit log, which is never deleted. Throws `unauthorized`, `invalid_origin`, `passkey_required` or `rate_limited`.
 */
export function sessionGuard(kernel: ServerContext) {
  const { clock, rateLimits } = kernel

  async function prove(request: FastifyRequest): Promise<Session> {
    const session = await findRequestSession(kernel, request)
    if (!session) throw errors.unauthorized()
    return requireAllowed(session, request)
  }

  async function proveAndCount(request: FastifyRequest): Promise<Session> {
    const session = await prove(request)
    if (addingMethods.includes(request.method)) await rateLimits.count('changes-per-user', ownKey(session, clock()))
    return session
  }

  return byEndpoint(guard(proveAndCount, prove))
}

/** Finds the session of a request, from a bearer token or cookie. Throws `invalid_origin`. */
export async function findRequestSession(kernel: ServerContext, request: FastifyRequest): Promise<Session | undefined> {
  const { db, clock, config } = kernel
  const bearer = request.headers.authorization === undefined ? undefined : (bearerToken(request) ?? '')
  const token = bearer ?? sessionCookie(request, config.baseUrl)
  if (token === undefined) return undefined
  if (bearer === undefined) requireOurPage(request, config)
  const now = clock()
  return (await readSession(db, token, now)) ?? readBusinessSession(kernel, request, now)
}

/** Request to an endpoint that accepts no SSO session. */
type PasskeyRequest = FastifyRequest & { routeOptions: { config: { ssoSession: 'nothing' } } }

/** Types the session of a request by what its endpoint accepts. */
function byEndpoint({ onRequest, of }: Guard<Session>) {
  function ofEndpoint(request: PasskeyRequest): PasskeySession
  function ofEndpoint(request: FastifyRequest): Session
  function ofEndpoint(request: FastifyRequest): Session {
    return requireAllowed(of(request), request)
  }
  return { onRequest, of: ofEndpoint }
}

/** Throws `passkey_required` for a session that only SSO opened, unless the endpoint accepts it. */
function requireAllowed(session: Session, request: FastifyRequest): Session {
  if (session.authMethod === 'passkey' || allowsEnterpriseSession(request)) return session
  throw errors.passkey_required()
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

/**
 * A new session with its tokens in clear text, available only here, and the session that it replaces in the browser.
 */
export type OpenedSession = {
  token: string
  federatedToken: string | undefined
  sessionId: SessionId
  expiresAt: Date
  earlier: { userId: UserId; sessionId: SessionId; tokenSha256: Uint8Array } | undefined
}

/** User who has just used a passkey, and the authorization request for which they did, if any. */
export type ProvedPerson = { userId: UserId; credentialId: string; provedRequestSha256?: Uint8Array | null }

/**
 * Creates a session for a user who has just authenticated with a passkey. Its cookie replaces an earlier one, and the
 * caller (`startSession` of the tokens) ends that session, because its user could no longer sign out of it. SSO
 * authentications of the same user move to the new session.
 */
export async function createSession(
  tx: Transaction,
  { userId, credentialId, provedRequestSha256 = null }: ProvedPerson,
  browser: ClientBrowser,
  now: Date,
): Promise<OpenedSession> {
  const openedBy = { authMethod: 'passkey', credentialId, provedRequestSha256 } as const
  const opened = await open(tx, { userId, openedBy }, browser, now)
  if (opened.earlier) await transferSsoAuthentication(tx, opened.earlier, { userId, sessionId: opened.sessionId })
  return opened
}

/** An identity that enterprise SSO has authenticated. */
export type NamedIdentity = {
  userId: UserId
  organizationId: OrganizationId
  connectionId: string
  identityId: IdentityId
}

/** Creates an SSO session for one identity, without a passkey. It replaces an earlier session too. */
export async function createEnterpriseSession(
  tx: Transaction,
  { userId, ...named }: NamedIdentity,
  browser: ClientBrowser,
  now: Date,
): Promise<OpenedSession> {
  const opened = await open(tx, { userId, openedBy: { authMethod: 'enterprise_sso', ...named } }, browser, now)
  await recordSsoAuthentication(tx, { ...named, sessionId: opened.sessionId }, now)
  return opened
}

async function open(
  tx: Transaction,
  { userId, openedBy }: Pick<NewSession, 'userId' | 'openedBy'>,
  browser: ClientBrowser,
  now: Date,
): Promise<OpenedSession> {
  const sessionId = asId<SessionId>(randomUUID())
  const token = generateToken('session', uuidToBytes(sessionId))
  const byPasskey = openedBy.authMethod === 'passkey'
  // SSO authenticates a user for that organization only, not for apps in general.
  const federatedToken = byPasskey ? generateToken('federated', uuidToBytes(sessionId)) : undefined
  const lifetime = byPasskey ? limits.sessionLifetimeSeconds : limits.enterpriseSsoSeconds
  const expiresAt = addSeconds(now, lifetime)
  const earlier = await findEarlier(tx, browser)
  await store.insertSession(tx, {
    sessionId,
    tokenSha256: sha256(token),
    federatedSha256: federatedToken === undefined ? null : sha256(federatedToken),
    userId,
    openedBy,
    userAgent: browser.userAgent,
    expiresAt,
    now,
  })
  if (earlier) await passOnAppSessions(tx, earlier, { sessionId, userId })
  return { token, federatedToken, sessionId, expiresAt: expiryOf({ lastSeenAt: now, expiresAt }), earlier }
}

/** Finds the session of the cookie that a browser sent, expired or not. */
async function findEarlier(db: Database, { earlierToken }: ClientBrowser): Promise<SessionRow | undefined> {
  const route = earlierToken === undefined ? undefined : parseToken('session', earlierToken, 16)
  if (!route || earlierToken === undefined) return undefined
  const earlier = await store.findSession(db, asId<SessionId>(uuidFromBytes(route)))
  return earlier && equalBytes(earlier.tokenSha256, sha256(earlierToken)) ? earlier : undefined
}

/** Finds the session of the cookie that a browser sent. Requests without a page of this service can use it too. */
export async function findSessionByToken(
  db: Database,
  { earlierToken }: ClientBrowser,
  now: Date,
): Promise<Session | undefined> {
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
 * Throws `reauthentication_required` if the last authentication is older than five minutes, and `passkey_required` for
 * a session opened by SSO alone.
 */
export function requireRecentAuthentication(session: Session, now: Date): asserts session is PasskeySession {
  if (session.authMethod !== 'passkey') throw errors.passkey_required()
  if (!isRecentlyAuthenticated(session, now)) throw errors.reauthentication_required()
}

/** Deletes up to `batch` sessions that have ended. Returns their number. */
export function pruneSessions(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteEndedSessions(db, { now, lastSeen: addSeconds(now, -limits.sessionIdleSeconds) }, batch)
}

/** Finds the session of a token. Updates the time of last use at most once a minute. */
async function readSession(db: Database, token: string, now: Date): Promise<Session | undefined> {
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
): Promise<Session | undefined> {
  const bearer = bearerToken(request)
  if (bearer === undefined || request.routeOptions.config.host !== 'business') return undefined
  const sessionId = await verifyBusinessToken(kernel, bearer, now)
  const row = sessionId === undefined ? undefined : await store.findSession(kernel.db, sessionId)
  return row && liveSession(kernel.db, row, now)
}

async function liveSession(db: Database, row: SessionRow, now: Date): Promise<Session | undefined> {
  if (now >= expiryOf(row)) return undefined
  if (now < addSeconds(row.lastSeenAt, seenAgainAfterSeconds)) return toSession(row)
  await store.touchSession(db, row.sessionId, now)
  return toSession({ ...row, lastSeenAt: now })
}

function toSession(row: SessionRow): Session {
  const { sessionId, userId, authTime, authMethod, identityId, organizationId, provedRequestSha256 } = row
  const session = { sessionId, userId, authTime, expiresAt: expiryOf(row) }
  if (authMethod === 'passkey') return { ...session, authMethod, provedRequestSha256 }
  if (identityId === null || organizationId === null)
    throw new Error(`SSO session ${sessionId} names no identity or no organization`)
  return { ...session, authMethod, identityId, organizationId }
}

/** Returns the expiry: thirty days after the last use, and at most ninety days after creation. */
function expiryOf({ lastSeenAt, expiresAt }: { lastSeenAt: Date; expiresAt: Date }): Date {
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
