import type { Database, Transaction } from '#platform/database/database.ts'
import { isEndingAccess } from '#organizations/members/ending.ts'
import { keepOrganization } from '#organizations/membership/member.ts'
import { continueEndings, endInRequest } from '#platform/module/batches.ts'
import { endSomeEnterpriseSessions } from '#tokens/families/session.ts'
import * as store from './ending-store.ts'
import type { ConnectionEnding } from './ending-store.ts'

/**
 * Ends the sessions that a connection alone opened, with their codes, and what it stated in other sessions. The caller
 * has locked its organization, and disables or deletes it. The first 1,000 end here, and the others by the cleanup.
 * Meanwhile none of them is accepted, nor a code of theirs. The caller keeps the connection from being enabled while
 * `isEndingSessions`: nothing would tell them from those that it opens then.
 */
export async function endSessionsOf(
  tx: Transaction,
  { connectionId, organizationId }: ConnectionEnding,
  now: Date,
): Promise<void> {
  const ending = { connectionId, organizationId }
  const isDone = await endInRequest((limit) => endSomeEnterpriseSessions(tx, { ...ending, limit }, now))
  if (!isDone) await store.insertEnding(tx, ending)
}

/** Tells if sessions that a disabled connection opened are still to be ended. */
export function isEndingSessions(tx: Transaction, connectionId: string): Promise<boolean> {
  return store.isEnding(tx, connectionId)
}

/**
 * Ends up to `batch` sessions of connections that requests have disabled or deleted. Returns their number.
 *
 * The organization is locked before its endings, and those before sessions and tokens, as in requests and in the
 * cleanup of organizations: with the lock, no request ends the same sessions. Where an ending of the organization is
 * noted, its cleanup may be ending them, and this one waits until it is done.
 */
export function continueConnectionEndings(db: Database, now: Date, batch: number): Promise<number> {
  return continueEndings(db, batch, async (tx, limit) => {
    const found = await store.findEnding(tx)
    if (!found) return undefined
    const { connectionId, organizationId } = found
    await keepOrganization(tx, organizationId)
    if (await isEndingAccess(tx, organizationId)) return 0
    const ending = await store.lockEnding(tx, connectionId)
    if (!ending) return 0
    const count = await endSomeEnterpriseSessions(tx, { ...ending, limit }, now)
    if (count === 0) await store.deleteEnding(tx, connectionId)
    return count
  })
}
