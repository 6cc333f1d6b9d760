import { limits } from '@countersign/protocol/formats/limits'
import { holdPerson } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import type { Transaction } from '#platform/database/database.ts'
import {
  forgetEnterpriseSso,
  holdSessions,
  removeSessions,
  selectSessions,
  type SessionsOf,
} from '#accounts/sessions/ending.ts'
import { queueLogouts } from '#accounts/sessions/logout.ts'
import {
  openEnterpriseSession,
  openSession,
  type Browser,
  type NamedIdentity,
  type OpenedSession,
  type ProvedPerson,
} from '#accounts/sessions/session.ts'
import * as sessionStore from './session-store.ts'

/**
 * Ends sessions with the codes that they gave and that no app has redeemed yet, and says how many sessions that were.
 * What an app did redeem is its own: it ends by its lifetime, or when the person disconnects the app. Whoever is just
 * consenting comes first, and their code ends too.
 */
export async function endSessions(tx: Transaction, of: SessionsOf, now: Date): Promise<number> {
  const count = await holdSessions(tx, of)
  if (count === 0) return 0
  await sessionStore.revokeUnredeemed(tx, of, now)
  await queueLogouts(tx, { sessions: selectSessions(tx, of) }, now)
  await removeSessions(tx, of)
  return count
}

/**
 * Takes back what the sign-in of an organization has said: of all members or of these identities, by each of its
 * connections or one. The sessions that it opened alone end, with their codes; says how many those were.
 */
export async function endEnterpriseSessions(
  tx: Transaction,
  of: { organizationId: string; connectionId?: string; identityIds?: string[] },
  now: Date,
): Promise<number> {
  const count = await endSessions(tx, of, now)
  await forgetEnterpriseSso(tx, of)
  return count
}

/**
 * Opens a session for a person who has just proved with a passkey who they are, and ends the one whose place it takes.
 * The caller holds the person, so that of sign-ins at the same time each sees the sessions of the others.
 */
export async function startSession(
  tx: Transaction,
  person: ProvedPerson,
  browser: Browser,
  now: Date,
): Promise<OpenedSession> {
  const opened = await openSession(tx, person, browser, now)
  await makeRoom(tx, { ...person, opened, first: 'least recently used' }, now)
  return opened
}

/**
 * The same for one identity of a person, whom the sign-in of an organization has named. Holds the person. Refuses
 * `unauthorized` where they have gone meanwhile.
 */
export async function startEnterpriseSession(
  tx: Transaction,
  named: NamedIdentity,
  browser: Browser,
  now: Date,
): Promise<OpenedSession> {
  await holdPerson(tx, named.userId)
  const opened = await openEnterpriseSession(tx, named, browser, now)
  // Whoever holds the provider of an organization could sign its people out everywhere else, by signing in often.
  await makeRoom(tx, { ...named, opened, first: 'opened by an organization' }, now)
  return opened
}

type Opened = {
  userId: string
  opened: OpenedSession
  first: 'least recently used' | 'opened by an organization'
}

/** Ends the session whose place another takes, and those that are too many. The caller holds the person. */
async function makeRoom(tx: Transaction, { userId, opened, first }: Opened, now: Date): Promise<void> {
  const { earlier, sessionId: kept } = opened
  if (earlier) {
    const { userId: owner, sessionId } = earlier
    const ended = await endSessions(tx, { userId: owner, which: 'one', sessionId }, now)
    if (ended > 0) await record(tx, { action: 'session.ended', actor: 'person', userId: owner }, now)
  }
  const beyond = { userId, kept, which: 'beyond', count: limits.sessionsPerUserMax - 1, first } as const
  const count = await endSessions(tx, beyond, now)
  if (count > 0) await record(tx, { action: 'session.too_many', actor: 'system', userId, details: { count } }, now)
}
