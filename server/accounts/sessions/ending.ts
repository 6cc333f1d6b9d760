import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'
import { holdActing } from './acting.ts'
import type { OpenedSession, ProvedPerson } from './opening.ts'
import type { ClientBrowser } from './session.ts'
import * as endingStore from './ending-store.ts'
import { selectSessions, type SessionsOf } from './ending-store.ts'

export type { SessionsOf }

/** Session IDs as a subquery, for statements about the tokens of sessions. */
export { selectSessions }

/**
 * Locks sessions that are about to end until the transaction ends. Returns their number. A consent in progress in one
 * of them completes first; a later one finds no session. Throws like `actingTransaction` if the transaction's own
 * session has ended.
 */
export async function holdSessions(tx: Transaction, of: SessionsOf): Promise<number> {
  if ('identityIds' in of && of.identityIds.length === 0) return 0
  await holdActing(tx)
  return endingStore.lockSessions(tx, of)
}

/** Deletes sessions that this transaction has locked. The caller revokes their codes before. */
export function removeSessions(tx: Transaction, of: SessionsOf): Promise<void> {
  return endingStore.deleteSessions(tx, of)
}

/** Lists the identities of up to `limit` SSO authentications. Each session that SSO opened has one, of its identity. */
export function listNamed(
  tx: Transaction,
  of: { organizationId: OrganizationId; connectionId?: string; limit: number },
): Promise<IdentityId[]> {
  return endingStore.listNamed(tx, of)
}

/** Revokes SSO authentications of an organization, including those in sessions that a passkey opened. */
export async function forgetEnterpriseSso(
  tx: Transaction,
  of: { organizationId: OrganizationId; connectionId?: string; identityIds: IdentityId[] },
): Promise<void> {
  if (of.identityIds.length > 0) await endingStore.deleteNamed(tx, of)
}

/** Deletes SSO authentications of identities that are being deleted. */
export async function forgetNamedIdentities(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await endingStore.deleteNamedIdentities(tx, identityIds)
}

/** Starts and ends sessions together with the codes and logout tokens that depend on them. */
export type SessionLifecycle = {
  /**
   * Creates a session for a user who has just authenticated with a passkey, and ends the session that it replaces. The
   * caller holds the lock of the user.
   */
  start: (tx: Transaction, person: ProvedPerson, browser: ClientBrowser, now: Date) => Promise<OpenedSession>
  /** Ends sessions and returns their number. */
  end: (tx: Transaction, of: SessionsOf, now: Date) => Promise<number>
}
