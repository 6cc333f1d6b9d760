import type { OrganizationId } from '@countersign/protocol/ids'
import { queueLogoutsOfOrganization } from '#accounts/backchannel-logout/logout.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { continueEndings, endedAtOnce } from '#platform/module/batches.ts'
import { revokeSomeOfOrganization } from '#tokens/families/family.ts'
import { endEnterpriseSessions } from '#tokens/families/session.ts'
import * as store from './store.ts'

/**
 * Revokes the tokens of all members for an organization that this transaction has locked and suspends or deletes, and
 * the sessions that its SSO opened, with their codes. The first 1,000 tokens are revoked here, and the others by the
 * cleanup. Meanwhile they are not accepted, because whatever accepts one reads the membership in the active
 * organization: the caller keeps it from being activated while `isEndingAccess`.
 */
export async function endAccess(tx: Transaction, organizationId: OrganizationId, now: Date): Promise<void> {
  const ending = { organizationId, endedAt: now }
  if ((await endSome(tx, ending, endedAtOnce, now)) === endedAtOnce) await store.insertEnding(tx, ending)
  await endEnterpriseSessions(tx, { organizationId }, now)
}

/** Tells if tokens for an organization are still to be revoked since it was suspended. */
export function isEndingAccess(tx: Transaction, organizationId: OrganizationId): Promise<boolean> {
  return store.isEnding(tx, organizationId)
}

/**
 * Revokes up to `batch` tokens for organizations that requests have suspended or deleted, and notifies the apps.
 * Returns their number.
 */
export function continueOrganizationEndings(db: Database, now: Date, batch: number): Promise<number> {
  return continueEndings(db, batch, async (tx, limit) => {
    const organizationId = await store.findEnding(tx)
    if (organizationId === undefined) return undefined
    const ending = await store.lockEnding(tx, organizationId)
    if (!ending) return 0
    const count = await endSome(tx, ending, limit, now)
    if (count < limit) await store.deleteEnding(tx, organizationId)
    return count
  })
}

/** Ends up to `limit` rows of each kind. Returns the larger number. Tokens count as revoked since `endedAt`. */
async function endSome(
  tx: Transaction,
  { organizationId, endedAt }: store.OrganizationEnding,
  limit: number,
  now: Date,
): Promise<number> {
  const revoked = await revokeSomeOfOrganization(tx, { organizationId, limit }, endedAt)
  const ended = await queueLogoutsOfOrganization(tx, { organizationId, limit }, now)
  return Math.max(revoked, ended)
}
