import { randomUUID } from 'node:crypto'
import { passOnAppSessions } from '#accounts/backchannel-logout/logout.ts'
import { limits } from '@countersign/protocol/formats/limits'
import { type IdentityId, type OrganizationId, type SessionId, type UserId, asId } from '@countersign/protocol/ids'
import { addSeconds } from '#platform/clock.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { generateToken, parseToken, uuidFromBytes, uuidToBytes } from '#platform/crypto/token-format.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { type ClientBrowser, expiryOf } from './session.ts'
import { recordSsoAuthentication, transferSsoAuthentication } from './sso-session.ts'
import * as store from './store.ts'
import type { LimitedTo, NewSession, Successor } from './store.ts'

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

/**
 * User who has just used a passkey, and the authorization request for which they did, if any. `limitedTo` is what a
 * recovered passkey is limited to.
 */
export type ProvedPerson = {
  userId: UserId
  credentialId: string
  provedRequestSha256?: Uint8Array | null
  limitedTo?: LimitedTo
}

/**
 * Creates a session for a user who has just authenticated with a passkey. Its cookie replaces an earlier one, and the
 * caller (`startSession` of the tokens) ends that session, because its user could no longer sign out of it. SSO
 * authentications of the same user move to the new session, unless it is limited to one identity.
 */
export async function createSession(
  tx: Transaction,
  { userId, credentialId, provedRequestSha256 = null, limitedTo }: ProvedPerson,
  browser: ClientBrowser,
  now: Date,
): Promise<OpenedSession> {
  const passkey = { credentialId, provedRequestSha256 }
  const openedBy = limitedTo
    ? ({ authMethod: 'recovered_passkey', ...passkey, ...limitedTo } as const)
    : ({ authMethod: 'passkey', ...passkey } as const)
  const opened = await open(tx, { userId, openedBy }, browser, now)
  if (opened.earlier && !limitedTo)
    transferSsoAuthentication(tx, opened.earlier, { userId, sessionId: opened.sessionId })
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

/** How many replaced sessions a session names: enough for an ID token that a browser keeps for a while. */
const replacedMax = 10

async function open(
  tx: Transaction,
  { userId, openedBy }: Pick<NewSession, 'userId' | 'openedBy'>,
  browser: ClientBrowser,
  now: Date,
): Promise<OpenedSession> {
  const sessionId = asId<SessionId>(randomUUID())
  const token = generateToken('session', uuidToBytes(sessionId))
  const byPasskey = openedBy.authMethod !== 'enterprise_sso'
  const isLimited = openedBy.authMethod !== 'passkey'
  // SSO authenticates a user for that organization only, not for apps in general, and FedCM shows all identities.
  const federatedToken = !isLimited ? generateToken('federated', uuidToBytes(sessionId)) : undefined
  const lifetime = byPasskey ? limits.sessionLifetimeSeconds : limits.enterpriseSsoSeconds
  const expiresAt = addSeconds(now, lifetime)
  const earlier = await findEarlier(tx, browser)
  // A recovered passkey is not proof enough that its user is the one of the earlier session.
  const replaced = earlier?.userId === userId && openedBy.authMethod !== 'recovered_passkey' ? earlier : undefined
  store.insertSession(tx, {
    sessionId,
    tokenSha256: sha256(token),
    federatedSha256: federatedToken === undefined ? null : sha256(federatedToken),
    userId,
    openedBy,
    userAgent: browser.userAgent,
    replacedSessionIds: replaced ? [replaced.sessionId, ...replaced.replacedSessionIds].slice(0, replacedMax) : [],
    expiresAt,
    now,
  })
  if (replaced) passOnAppSessions(tx, replaced, { sessionId, userId }, now)
  return { token, federatedToken, sessionId, expiresAt: expiryOf({ lastSeenAt: now, expiresAt }), earlier }
}

/** Finds the session of the cookie that a browser sent, expired or not. */
async function findEarlier(db: Database, { earlierToken }: ClientBrowser): Promise<Successor | undefined> {
  const route = earlierToken === undefined ? undefined : parseToken('session', earlierToken, 16)
  if (!route || earlierToken === undefined) return undefined
  const earlier = await store.findSuccessor(db, asId<SessionId>(uuidFromBytes(route)))
  return earlier && equalBytes(earlier.tokenSha256, sha256(earlierToken)) ? earlier : undefined
}

/** Lists the last sessions of the same user that a session has replaced in its browser, the latest first. */
export async function listReplacedSessions(db: Database, sessionId: SessionId): Promise<SessionId[]> {
  return (await store.findSuccessor(db, sessionId))?.replacedSessionIds ?? []
}
