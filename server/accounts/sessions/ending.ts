import type { Database, Transaction } from '#platform/database/database.ts'
import { holdActing } from './acting.ts'
import * as endingStore from './ending-store.ts'
import { selectSessions, type SessionsOf } from './ending-store.ts'

export type { SessionsOf }

/** The ids of sessions, as a sub-query for a statement about what they gave. */
export { selectSessions }

/**
 * Holds sessions that are about to end until the transaction does, and says how many. A consent that is under way in
 * one of them comes before; one that comes later finds no session. Refuses as `actingTransaction` does where the
 * transaction acts by a session that has ended itself.
 */
export async function holdSessions(tx: Transaction, of: SessionsOf): Promise<number> {
  if ('identityIds' in of && of.identityIds?.length === 0) return 0
  await holdActing(tx)
  return endingStore.lockSessions(tx, of)
}

/** Removes sessions that this transaction holds. The codes that they gave are the caller's, before. */
export function removeSessions(tx: Transaction, of: SessionsOf): Promise<void> {
  return endingStore.deleteSessions(tx, of)
}

/** Takes back what the sign-in of an organization has said, in sessions that a passkey has opened too. */
export async function forgetEnterpriseSso(
  tx: Transaction,
  of: { organizationId: string; connectionId?: string; identityIds?: string[] },
): Promise<void> {
  if (of.identityIds?.length !== 0) await endingStore.deleteNamed(tx, of)
}

/** Takes back what any organization has said of identities that are going. */
export async function forgetNamedIdentities(tx: Transaction, identityIds: string[]): Promise<void> {
  await endingStore.deleteNamedIdentities(tx, identityIds)
}

/**
 * Notes of up to `batch` sessions which organization opened them, as the version before this one did not, and ends
 * those of which it has taken back its word meanwhile. Says how many those were.
 */
export function noteOpeningOrganizations(db: Database, _now: Date, batch: number): Promise<number> {
  return endingStore.noteOrganizations(db, batch)
}
