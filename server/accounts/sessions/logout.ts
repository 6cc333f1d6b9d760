import { limits } from '@countersign/protocol/formats/limits'
import { createBell } from '#platform/queue/bell.ts'
import { secondsAfter } from '#platform/clock.ts'
import { afterCommit, type Database, type Transaction } from '#platform/database/database.ts'
import * as store from './logout-store.ts'

export type { ClaimedLogout, LogoutOf } from './logout-store.ts'
export { claimLogouts, deleteFormerlySlow, deleteLogout, postponeLogout, setSlowToTake } from './logout-store.ts'

const bell = createBell()

/** Hears from now on when logout tokens were queued in this process; the answer ends that. */
export const onLogoutQueued = bell.onRing

/**
 * Notes that an app has been given an ID token in a session, so that it is told when that ends. Kept as long as the
 * tokens of one sign-in can live; none is noted in a session that has ended.
 */
export async function noteAppSession(
  tx: Transaction,
  noted: { sessionId: string; identityId: string; clientId: string; organizationId: string | undefined },
  now: Date,
): Promise<void> {
  const { organizationId = null, ...known } = noted
  const expiresAt = secondsAfter(now, limits.refreshTokenLifetimeSeconds)
  await store.insertAppSession(tx, { ...known, organizationId, expiresAt })
}

/** Moves what apps know of a session to the one that takes its place, where that is of the same user. */
export function passOnAppSessions(
  tx: Transaction,
  earlier: { sessionId: string; tokenSha256: Uint8Array },
  later: { sessionId: string; userId: string },
): Promise<void> {
  return store.moveAppSessions(tx, earlier, later)
}

/**
 * Queues the logout tokens for what ends, as rows of this transaction: they are sent once it is committed (OpenID
 * Connect Back-Channel Logout §2.5). Call it before the sessions are deleted.
 */
export async function queueLogouts(tx: Transaction, of: store.LogoutOf, now: Date): Promise<void> {
  if ('sessions' in of) await store.lockSessions(tx, of.sessions)
  const count = await store.endAppSessions(tx, of, now)
  if (count > 0) afterCommit(tx, bell.ring)
}

/** Forgets up to `batch` of what apps knew and have no tokens for any more, and says how many. */
export function pruneAppSessions(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredAppSessions(db, now, batch)
}
