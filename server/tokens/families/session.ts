import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import { lockActiveUser } from '#accounts/identities/suspension.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
import {
  forgetEnterpriseSso,
  holdSessions,
  listNamed,
  removeSessions,
  selectSessions,
  type SessionsOf,
} from '#accounts/sessions/ending.ts'
import { listSiblings, queueLogouts } from '#accounts/backchannel-logout/logout.ts'
import {
  createEnterpriseSession,
  createSession,
  type NamedIdentity,
  type OpenedSession,
  type ProvedPerson,
} from '#accounts/sessions/opening.ts'
import type { ClientBrowser } from '#accounts/sessions/session.ts'
import type { SessionLifecycle } from '#accounts/sessions/ending.ts'
import * as sessionStore from './session-store.ts'

/**
 * Ends sessions and revokes the unredeemed codes that were issued in them. Returns the number of sessions. Redeemed
 * tokens stay valid until they expire or the user disconnects the app. A consent in progress completes first, and its
 * code is revoked too.
 */
export async function endSessions(tx: Transaction, of: SessionsOf, now: Date): Promise<number> {
  const count = await holdSessions(tx, of)
  if (count === 0) return 0
  await sessionStore.revokeUnredeemedCodes(tx, of, now)
  await queueLogouts(tx, { sessions: selectSessions(tx, of) }, now)
  await removeSessions(tx, of)
  return count
}

/**
 * Revokes enterprise SSO of these identities, for all connections of the organization or one. Ends the sessions that
 * only SSO opened, with their codes. Returns the number of those sessions.
 */
export async function endEnterpriseSessions(
  tx: Transaction,
  of: OfSso & { identityIds: IdentityId[] },
  now: Date,
): Promise<number> {
  const count = await endSessions(tx, of, now)
  await forgetEnterpriseSso(tx, of)
  return count
}

type OfSso = { organizationId: OrganizationId; connectionId?: string }

/**
 * Revokes up to `limit` SSO authentications of an organization, for all connections or one, and the others of the same
 * users. Ends the sessions that only SSO opened, with their codes. Returns the number of the former: nothing is left
 * only where that is 0, because a sign-in can move one to another session meanwhile.
 */
export async function endSomeEnterpriseSessions(
  tx: Transaction,
  { limit, ...of }: OfSso & { limit: number },
  now: Date,
): Promise<number> {
  const named = await listNamed(tx, { ...of, limit })
  if (named.length === 0) return 0
  // The identities of a user end together, so that their logout tokens are kept apart.
  const identityIds = await listSiblings(tx, [...new Set(named)])
  const { organizationId, connectionId } = of
  if (connectionId === undefined) await queueLogouts(tx, { organizationId, identityIds }, now)
  await endEnterpriseSessions(tx, { ...of, identityIds }, now)
  return named.length
}

/**
 * Creates a session for a user who has just authenticated with a passkey, and ends the session that it replaces. The
 * caller holds the lock of the user, so that concurrent sign-ins see each other's sessions.
 */
async function startSession(
  tx: Transaction,
  person: ProvedPerson,
  browser: ClientBrowser,
  now: Date,
): Promise<OpenedSession> {
  const opened = await createSession(tx, person, browser, now)
  await makeRoom(tx, { ...person, opened, first: 'least recently used' }, now)
  return opened
}

/**
 * Creates a session for one identity that enterprise SSO has authenticated. Locks the user. Throws `unauthorized` if
 * the account was deleted in the meantime.
 */
export async function startEnterpriseSession(
  tx: Transaction,
  named: NamedIdentity,
  browser: ClientBrowser,
  now: Date,
): Promise<OpenedSession> {
  await lockActiveUser(tx, named.userId, now)
  const opened = await createEnterpriseSession(tx, named, browser, now)
  // Otherwise an organization's identity provider could sign its members out everywhere else by signing in often.
  await makeRoom(tx, { ...named, opened, first: 'opened by an organization' }, now)
  return opened
}

export const sessionLifecycle: SessionLifecycle = { start: startSession, end: endSessions }

type Opened = {
  userId: UserId
  opened: OpenedSession
  first: 'least recently used' | 'opened by an organization'
}

/** Ends the session that is replaced, and those above the limit. The caller holds the lock of the user. */
async function makeRoom(tx: Transaction, { userId, opened, first }: Opened, now: Date): Promise<void> {
  const { earlier, sessionId: kept } = opened
  if (earlier) {
    const { userId: owner, sessionId } = earlier
    const ended = await endSessions(tx, { userId: owner, which: 'one', sessionId }, now)
    if (ended > 0) await recordAuditEvent(tx, { action: 'session.revoked', actor: 'user', userId: owner }, now)
  }
  const beyond = { userId, kept, which: 'beyond', count: limits.sessionsPerUserMax - 1, first } as const
  const count = await endSessions(tx, beyond, now)
  if (count > 0)
    await recordAuditEvent(tx, { action: 'session.too_many', actor: 'system', userId, details: { count } }, now)
}
