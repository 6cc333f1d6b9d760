import type { Database, Transaction } from '#platform/database/database.ts'
import { readEnterpriseSso, type EnterpriseSso } from '#accounts/sessions/sso-session.ts'
import * as store from './sso-confirmation-store.ts'
import type { Confirmed } from './sso-confirmation-store.ts'

/**
 * Whether an owner has confirmed a connection as it is now. Until then it signs members in, but does not meet
 * `ssoRequired`: a member who manages SSO could otherwise connect a provider of their own, and stay in by that after
 * the organization's provider has disabled them.
 */
export async function isSsoConfirmed(db: Database, confirmed: Confirmed): Promise<boolean> {
  return (await store.findConfirmation(db, confirmed)) !== undefined
}

/** How the user of a session was signed in by a confirmed connection of an organization; undefined where by none. */
export async function readConfirmedSso(
  db: Database,
  sessionId: string,
  organizationId: string,
  now: Date,
): Promise<EnterpriseSso | undefined> {
  const named = await readEnterpriseSso(db, sessionId, organizationId, now)
  return named && (await isSsoConfirmed(db, { organizationId, ...named })) ? named : undefined
}

/** Notes that an owner confirms a connection as it is now. */
export async function confirmSso(
  tx: Transaction,
  confirmed: Confirmed & { identityId: string },
  now: Date,
): Promise<void> {
  await store.upsertConfirmation(tx, confirmed, now)
}

/** Notes that a connection is no longer what was confirmed, or is gone. */
export async function unconfirmSso(tx: Transaction, confirmed: Confirmed): Promise<void> {
  await store.deleteConfirmation(tx, confirmed)
}
