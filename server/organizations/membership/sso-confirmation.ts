import type { IdentityId, OrganizationId, SessionId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { findSsoAuthentication, type EnterpriseSso } from '#accounts/sessions/sso-session.ts'
import * as store from './sso-confirmation-store.ts'
import type { Confirmed } from './sso-confirmation-store.ts'

/**
 * Checks if an owner has confirmed the current configuration of a connection. An unconfirmed connection signs members
 * in, but does not meet `ssoRequired`. Otherwise a member who manages SSO could connect a provider of their own and
 * keep access after the organization's provider has disabled them.
 */
export async function isSsoConfirmed(db: Database, confirmed: Confirmed): Promise<boolean> {
  return (await store.findConfirmation(db, confirmed)) !== undefined
}

/**
 * Returns how a confirmed connection of an organization signed in the session's user. Returns undefined if none did.
 */
export async function readConfirmedSso(
  db: Database,
  sessionId: SessionId,
  organizationId: OrganizationId,
  now: Date,
): Promise<EnterpriseSso | undefined> {
  const named = await findSsoAuthentication(db, sessionId, organizationId, now)
  return named && (await isSsoConfirmed(db, { organizationId, ...named })) ? named : undefined
}

/** Records that an owner confirms the current configuration of a connection. */
export async function confirmSso(
  tx: Transaction,
  confirmed: Confirmed & { identityId: IdentityId },
  now: Date,
): Promise<void> {
  await store.upsertConfirmation(tx, confirmed, now)
}

/** Records that a connection was changed after its confirmation, or deleted. */
export async function unconfirmSso(tx: Transaction, confirmed: Confirmed): Promise<void> {
  await store.deleteConfirmation(tx, confirmed)
}
