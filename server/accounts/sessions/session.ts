import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { limits } from '@countersign/protocol/formats/limits'
import type { SessionEntry } from '@countersign/protocol/accounts/sessions'
import { secondsAfter } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { equalBytes, sha256 } from '#platform/crypto/digest.ts'
import { guard } from '#platform/http/guard.ts'
import { bearerToken } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { newToken, readToken, uuidFromBytes, uuidToBytes } from '#platform/crypto/token-format.ts'
import { readBusinessToken, signBusinessToken } from './business-token.ts'
import { sessionCookie } from './cookie.ts'
import { isOpenWithoutPasskey, noteEnterpriseSso, passOnEnterpriseSso } from './sso-session.ts'
import { passOnAppSessions } from './logout.ts'
import { ownKey } from './own-key.ts'
import { isFresh } from './proof.ts'
import * as store from './store.ts'
import type { NewSession } from './store.ts'

/** How a session was opened: with a passkey of the person, or by the sign-in of an organization alone. */
export type AuthMethod = 'passkey' | 'enterprise_sso'

/**
 * A person who is signed in here. `identityId` names the one identity that a session of `enterprise_sso` is of; with a
 * passkey it is null, and they are all of theirs. `provedRequestSha256` names the authorization request for which the
 * passkey was used at `authTime`, by the hash of its reference; null where it was for none. `expiresAt` is when the
 * session ends if it stays unused.
 */
export type Session = {
  sessionId: string
  userId: string
  identityId: string | null
  authMethod: AuthMethod
  authTime: Date
  provedRequestSha256: Uint8Array | null
  expiresAt: Date
}

/** Who acts: a person, as any of their identities, or as none but the one that is named. */
export type Acting = Pick<Session, 'userId' | 'identityId'>

const refuse = refusals({
  unauthorized: [401, 'Sign in first.'],
  invalid_origin: [403, 'A request with the session cookie must come from a page of this service.'],
  reauthentication_required: [403, 'Prove with your passkey that it is you, then try again.'],
  passkey_required: [403, 'This takes your passkey: an organization has signed you in here, for itself alone.'],
})

const seenAgainAfterSeconds = 60

/** What adds rows. To end something is never limited: a stolen session must not keep its owner from signing it out. */
const addingMethods = ['POST', 'PUT', 'PATCH']

/**
 * Lets through whoever has a session, by bearer token or cookie; without a passkey only to endpoints that say they are
 * open to that. Each request that adds or changes something counts, whatever it is: most leave an entry in the audit
 * log, which nothing removes. Refuses `unauthorized`, `invalid_origin`, `passkey_required`, `rate_limited`.
 */
export function sessionGuard(kernel: Kernel) {
  const { db, clock, config, rateLimits } = kernel

  async function prove(request: FastifyRequest): Promise<Session> {
    const bearer = request.headers.authorization === undefined ? undefined : (bearerToken(request) ?? '')
    const token = bearer ?? sessionCookie(request, config.baseUrl)
    if (token === undefined) throw refuse.unauthorized()
    if (bearer === undefined) requireOurPage(request, config)
    const now = clock()
    const session = (await readSession(db, token, now)) ?? (await readBusinessSession(kernel, request, now))
    if (!session) throw refuse.unauthorized()
    if (session.authMethod !== 'passkey' && !isOpenWithoutPasskey(request)) throw refuse.passkey_required()
    return session
  }

  async function proveAndCount(request: FastifyRequest): Promise<Session> {
    const session = await prove(request)
    if (addingMethods.includes(request.method)) await rateLimits.count('change of a person', ownKey(session, clock()))
    return session
  }

  return guard(proveAndCount, prove)
}

/**
 * What lets a page of ours speak for this session at the business host. Told to such a page alone, which can't read
 * the cookie by which it asks: of the business host, or of the one where passkeys answer, which wraps its keys. Refuses
 * `invalid_origin`.
 */
export async function openForBusiness(
  kernel: Kernel,
  { sessionId }: Session,
  { headers }: Pick<FastifyRequest, 'headers'>,
  now: Date,
) {
  const { businessUrl, authUrl } = kernel.config
  if (headers.origin !== businessUrl.origin && headers.origin !== authUrl.origin) throw refuse.invalid_origin()
  const businessToken = await signBusinessToken(kernel, sessionId, now)
  return { businessToken, expiresInSeconds: limits.businessTokenLifetimeSeconds }
}

/** The browser in which somebody signs in: what it says it is, and the session that it has brought along. */
export type Browser = { userAgent: string | undefined; earlierToken: string | undefined }

export function browserOf(request: FastifyRequest, baseUrl: URL): Browser {
  return { userAgent: request.headers['user-agent'], earlierToken: sessionCookie(request, baseUrl) }
}

/** What the trail tells of a browser, for its owner to recognise it. */
export function deviceOf({ userAgent }: Browser): string {
  return userAgent?.slice(0, limits.userAgentCharactersMax) ?? ''
}

/** What is told of a session once, when it is opened, and the session whose place it takes in the browser. */
export type OpenedSession = {
  token: string
  federatedToken: string | undefined
  sessionId: string
  expiresAt: Date
  earlier: { userId: string; sessionId: string; tokenSha256: Uint8Array } | undefined
}

/** A person who has just used a passkey, and the authorization request for which they did, if for any. */
export type ProvedPerson = { userId: string; credentialId: string; provedRequestSha256?: Uint8Array | null }

/**
 * Opens a session for a person who has just proved with a passkey who they are. Its cookie takes the place of an
 * earlier one, whose session the caller ends: nobody could sign out of it any more (`startSession`, of the tokens).
 * What providers have said in that holds on for the same person.
 */
export async function openSession(
  tx: Transaction,
  { userId, credentialId, provedRequestSha256 = null }: ProvedPerson,
  browser: Browser,
  now: Date,
): Promise<OpenedSession> {
  const openedBy = { credentialId }
  const opened = await open(tx, { userId, identityId: null, provedRequestSha256, openedBy }, browser, now)
  if (opened.earlier) await passOnEnterpriseSso(tx, opened.earlier, { userId, sessionId: opened.sessionId })
  return opened
}

/** An identity that the sign-in of an organization has named. */
export type NamedIdentity = { userId: string; organizationId: string; connectionId: string; identityId: string }

/**
 * Opens a session of one identity of a person, whom the sign-in of an organization has named: that alone, and no
 * passkey. It takes the place of an earlier one too.
 */
export async function openEnterpriseSession(
  tx: Transaction,
  { userId, ...named }: NamedIdentity,
  browser: Browser,
  now: Date,
): Promise<OpenedSession> {
  const { identityId } = named
  const opened = await open(tx, { userId, identityId, provedRequestSha256: null, openedBy: named }, browser, now)
  await noteEnterpriseSso(tx, { ...named, sessionId: opened.sessionId }, now)
  return opened
}

type Opening = Acting & Pick<NewSession, 'openedBy' | 'provedRequestSha256'>

async function open(tx: Transaction, { userId, identityId, ...opening }: Opening, browser: Browser, now: Date) {
  const sessionId = randomUUID()
  const token = newToken('session', uuidToBytes(sessionId))
  // What the provider of an organization says of a person is for that organization, not for apps anywhere.
  const federatedToken = identityId === null ? newToken('federated', uuidToBytes(sessionId)) : undefined
  const lifetime = identityId === null ? limits.sessionLifetimeSeconds : limits.enterpriseSsoSeconds
  const endsAt = secondsAfter(now, lifetime)
  const earlier = await findEarlier(tx, browser)
  await store.insertSession(tx, {
    sessionId,
    tokenSha256: sha256(token),
    federatedSha256: federatedToken === undefined ? null : sha256(federatedToken),
    userId,
    identityId,
    ...opening,
    userAgent: browser.userAgent,
    endsAt,
    now,
  })
  if (earlier) await passOnAppSessions(tx, earlier, { sessionId, userId })
  return { token, federatedToken, sessionId, expiresAt: expiryOf({ lastSeenAt: now, endsAt }), earlier }
}

/** The session of the cookie that a browser has brought along, expired or not. */
async function findEarlier(db: Database, { earlierToken }: Browser) {
  const route = earlierToken === undefined ? undefined : readToken('session', earlierToken, 16)
  if (!route || earlierToken === undefined) return undefined
  const earlier = await store.findSession(db, uuidFromBytes(route))
  return earlier && equalBytes(earlier.tokenSha256, sha256(earlierToken)) ? earlier : undefined
}

/** The session that a browser has brought along by its cookie. It may be asked where no page of ours could ask. */
export async function sessionOf(db: Database, { earlierToken }: Browser, now: Date): Promise<Session | undefined> {
  return earlierToken === undefined ? undefined : readSession(db, earlierToken, now)
}

/** The session for which the browser itself asks, by the token that it has for that. */
export async function sessionOfFederatedToken(db: Database, token: string, now: Date): Promise<Session | undefined> {
  const route = readToken('federated', token, 16)
  const row = route && (await store.findSession(db, uuidFromBytes(route)))
  if (!row?.federatedSha256 || !equalBytes(row.federatedSha256, sha256(token))) return undefined
  return liveSession(db, row, now)
}

/** The sessions in which a person is signed in, the one used last first. */
export async function listSessions(db: Database, { userId, sessionId }: Session, now: Date): Promise<SessionEntry[]> {
  const rows = await store.listSessionsOfUser(db, userId)
  return rows
    .filter((row) => now < expiryOf(row))
    .map((row) => ({
      sessionId: row.sessionId,
      createdAt: row.createdAt.toISOString(),
      lastSeenAt: row.lastSeenAt.toISOString(),
      userAgent: row.userAgent,
      current: row.sessionId === sessionId,
    }))
}

/**
 * Refuses `reauthentication_required` where the last proof of presence is older than five minutes. What an organization
 * says of a person is no such proof: refuses `passkey_required`.
 */
export function requireFresh(session: Session, now: Date): void {
  if (session.authMethod !== 'passkey') throw refuse.passkey_required()
  if (!isFresh(session, now)) throw refuse.reauthentication_required()
}

/** Deletes up to `batch` sessions that have ended, and says how many. */
export function pruneSessions(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteEndedSessions(db, { now, lastSeen: secondsAfter(now, -limits.sessionIdleSeconds) }, batch)
}

/** The session of a token. Notes at most once a minute that it was seen. */
async function readSession(db: Database, token: string, now: Date): Promise<Session | undefined> {
  const route = readToken('session', token, 16)
  if (!route) return undefined
  const row = await store.findSession(db, uuidFromBytes(route))
  if (!row || !equalBytes(row.tokenSha256, sha256(token))) return undefined
  return liveSession(db, row, now)
}

/** The session for which a page of the business host speaks, where that is the host which is asked. */
async function readBusinessSession(kernel: Kernel, request: FastifyRequest, now: Date): Promise<Session | undefined> {
  const bearer = bearerToken(request)
  if (bearer === undefined || request.routeOptions.config.host !== 'business') return undefined
  const sessionId = await readBusinessToken(kernel, bearer, now)
  const row = sessionId === undefined ? undefined : await store.findSession(kernel.db, sessionId)
  return row && liveSession(kernel.db, row, now)
}

type Row = NonNullable<Awaited<ReturnType<typeof store.findSession>>>

async function liveSession(db: Database, row: Row, now: Date): Promise<Session | undefined> {
  if (now >= expiryOf(row)) return undefined
  const authMethod: AuthMethod = row.identityId === null ? 'passkey' : 'enterprise_sso'
  if (now >= secondsAfter(row.lastSeenAt, seenAgainAfterSeconds)) {
    await store.touchSession(db, row.sessionId, now)
    return { ...row, authMethod, expiresAt: expiryOf({ ...row, lastSeenAt: now }) }
  }
  return { ...row, authMethod, expiresAt: expiryOf(row) }
}

/** Thirty days after it was last seen, and ninety after it began at the latest. */
function expiryOf({ lastSeenAt, endsAt }: { lastSeenAt: Date; endsAt: Date }): Date {
  const idleEnd = secondsAfter(lastSeenAt, limits.sessionIdleSeconds)
  return idleEnd < endsAt ? idleEnd : endsAt
}

/**
 * Requires that one of our pages asks: a cookie comes along with whatever makes the browser ask. Refuses
 * `invalid_origin`.
 */
export function requireOurPage({ headers }: FastifyRequest, { authUrl, businessUrl }: Kernel['config']): void {
  const { origin } = headers
  const isOurs =
    origin === undefined
      ? headers['sec-fetch-site'] === 'same-origin'
      : origin === authUrl.origin || origin === businessUrl.origin
  if (!isOurs) throw refuse.invalid_origin()
}
