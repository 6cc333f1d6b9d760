import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId, IdentityId, OrganizationId, SessionId, UserId } from '@countersign/protocol/ids'
import { createWakeup } from '#platform/queue/wakeup.ts'
import { addSeconds } from '#platform/clock.ts'
import { afterCommit, type Database, type Transaction } from '#platform/database/database.ts'
import * as store from './logout-store.ts'

export type { ClaimedLogout } from './logout-store.ts'
export {
  claimLogouts,
  deleteFormerlySlow,
  deleteLogout,
  listSiblings,
  postponeLogout,
  setSlowToTake,
} from './logout-store.ts'

const wakeup = createWakeup()

/** Subscribes to queued logout tokens of this process. Returns a function that unsubscribes. */
export const onLogoutQueued = wakeup.onNotified

/**
 * Records that an app received an ID token in a session, so that it is notified when the session ends. The record lasts
 * as long as the tokens of one sign-in can. Sessions that have ended get no record.
 */
export function noteAppSession(
  tx: Transaction,
  noted: {
    sessionId: SessionId
    identityId: IdentityId
    clientId: ClientId
    organizationId: OrganizationId | undefined
  },
  now: Date,
): void {
  const { organizationId = null, ...known } = noted
  const expiresAt = addSeconds(now, limits.refreshTokenLifetimeSeconds)
  store.insertAppSession(tx, { ...known, organizationId, expiresAt })
}

/** Moves the records of apps from a session to the one that replaces it, if both are of the same user. */
export function passOnAppSessions(
  tx: Transaction,
  earlier: { sessionId: SessionId; tokenSha256: Uint8Array },
  later: { sessionId: SessionId; userId: UserId },
  now: Date,
): void {
  store.moveAppSessions(tx, earlier, later, now)
}

/**
 * Queues logout tokens as rows of this transaction. They are sent after the commit (OpenID Connect Back-Channel Logout
 * §2.5). Call it before the sessions are deleted, and with their locks: a request that issues tokens in one of them
 * has then recorded its app.
 */
export async function queueLogouts(tx: Transaction, of: store.LogoutOf, now: Date): Promise<void> {
  const count = await store.endAppSessions(tx, of, now)
  if (count > 0) afterCommit(tx, wakeup.notify)
}

/**
 * Queues logout tokens of up to `limit` records of apps in which members used an organization, and of the others of the
 * same users: the identities of a user end together, so that `endAppSessions` keeps their tokens apart. Returns the
 * number of the former.
 */
export async function queueLogoutsOfOrganization(
  tx: Transaction,
  of: { organizationId: OrganizationId; limit: number },
  now: Date,
): Promise<number> {
  const known = await store.listKnownFor(tx, of)
  if (known.length === 0) return 0
  const identityIds = await store.listSiblings(tx, [...new Set(known)])
  await queueLogouts(tx, { organizationId: of.organizationId, identityIds }, now)
  return known.length
}

/** Deletes up to `batch` records whose tokens have expired. Returns their number. */
export function pruneAppSessions(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredAppSessions(db, now, batch)
}
