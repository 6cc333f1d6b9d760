import type { OrganizationId } from '@countersign/protocol/ids'
import { queueLogoutsOfOrganization } from '#accounts/backchannel-logout/logout.ts'
import { keepOrganization } from '#organizations/membership/member.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { continueEndings, endInRequest } from '#platform/module/batches.ts'
import { revokeSomeOfOrganization } from '#tokens/families/family.ts'
import { endSomeEnterpriseSessions } from '#tokens/families/session.ts'
import * as store from './store.ts'

/**
 * Revokes the tokens of all members for an organization that this transaction has locked and suspends or deletes, and
 * ends the sessions that its SSO opened. The first 1,000 of each end here, and the others by the cleanup. Meanwhile
 * none is accepted: what accepts a token reads the membership in the active organization, and what accepts a session
 * reads that no ending is noted. The caller keeps the organization from being activated while `isEndingAccess`.
 */
export async function endAccess(tx: Transaction, organizationId: OrganizationId, now: Date): Promise<void> {
  const ending = { organizationId, endedAt: now }
  const isDone = await endInRequest((limit) => endSome(tx, ending, limit, now))
  if (!isDone) await store.insertEnding(tx, ending)
}

/** Tells if tokens or sessions are still to be ended since an organization was suspended. */
export function isEndingAccess(tx: Transaction, organizationId: OrganizationId): Promise<boolean> {
  return store.isEnding(tx, organizationId)
}

/**
 * Ends up to `batch` tokens and sessions for organizations that requests have suspended or deleted, and notifies the
 * apps. Returns their number. The organization, if it still exists, is locked before its ending and before what ends,
 * as in requests: those that delete it meanwhile would lock the same rows in another order.
 */
export function continueOrganizationEndings(db: Database, now: Date, batch: number): Promise<number> {
  return continueEndings(db, batch, async (tx, limit) => {
    const organizationId = await store.findEnding(tx)
    if (organizationId === undefined) return undefined
    await keepOrganization(tx, organizationId)
    const ending = await store.lockEnding(tx, organizationId)
    if (!ending) return 0
    const count = await endSome(tx, ending, limit, now)
    if (count === 0) await store.deleteEnding(tx, organizationId)
    return count
  })
}

/** Ends up to `limit` rows of each kind. Returns the largest number. Tokens count as revoked since `endedAt`. */
async function endSome(
  tx: Transaction,
  { organizationId, endedAt }: store.OrganizationEnding,
  limit: number,
  now: Date,
): Promise<number> {
  const revoked = await revokeSomeOfOrganization(tx, { organizationId, limit }, endedAt)
  const ended = await queueLogoutsOfOrganization(tx, { organizationId, limit }, now)
  const signedOut = await endSomeEnterpriseSessions(tx, { organizationId, limit }, now)
  return Math.max(revoked, ended, signedOut)
}
