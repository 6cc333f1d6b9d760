import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId, IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import { addSeconds, secondsUntil } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { hashKey, type RateLimits } from '#platform/rate-limits/rate-limit.ts'
import { defineErrors } from '#platform/api-error.ts'
import * as quotaStore from './quota-store.ts'

const errors = defineErrors({
  too_many_pending: [429, 'Too many pending signing requests from this app for this signer.'],
})

const tooManyTogether = 'Too many pending signing requests from all apps for this signer.'

/** App that requests a signature, its owner (null for the operator), and whether the signer has connected it. */
export type Asking = {
  signerId: IdentityId | OrganizationId
  clientId: ClientId
  ownerUserId: UserId | null
  isConnected: boolean
}

/** Pending requests of a signer. */
type Pending = ReturnType<typeof quotaStore.readCounts>

/** Counts a request, even if it is rejected later. Throws `rate_limited`. */
export async function countAsking(rateLimits: RateLimits, { signerId, clientId }: Asking): Promise<void> {
  await rateLimits.count('signing-requests-per-app-and-signer', hashKey(`${clientId} ${signerId}`))
}

/**
 * Counts a request of an app that the signer has not connected, once there is room for it, so that rejected requests
 * use no quota.
 *
 * The apps of one owner share the quota of one app, and all unconnected apps together have a limit. Throws
 * `rate_limited`.
 */
export async function countUnconnected(rateLimits: RateLimits, asking: Asking): Promise<void> {
  const { signerId, clientId, ownerUserId } = asking
  const ofOwner = hashKey(`${ownerUserId ?? clientId} ${signerId}`)
  await rateLimits.count('signing-requests-per-unconnected-app-and-signer', ofOwner)
  await rateLimits.count('signing-requests-of-unconnected-apps-per-signer', signerId)
}

/**
 * Limits the pending requests of an app for a signer. Throws `too_many_pending`.
 *
 * For an app that the signer has not connected, all apps of its owner count together. Connected apps share one quota,
 * in which each has a reserved part, so that none blocks another. Unconnected apps share a separate quota.
 */
export function requireRoom({ ofApp, ofAll }: Pending, { isConnected, pendingMax }: Room, now: Date): void {
  const ofAppMax = isConnected ? limits.signingPendingMax : limits.signingPendingOfUnconnectedMax
  const togetherMax = isConnected
    ? limits.signingPendingOfConnectedTogetherMax
    : limits.signingPendingOfUnconnectedTogetherMax
  const beyondMax = isConnected ? limits.signingPendingOfConnectedBeyondMax : 0
  const retryAfter = (expiry: Date) => ({ headers: { 'retry-after': String(secondsUntil(now, expiry)) } })
  if (ofApp.count >= (pendingMax ?? ofAppMax)) throw errors.too_many_pending(retryAfter(ofApp.firstExpiry))
  if (ofAll.count >= togetherMax && ofApp.count >= beyondMax)
    throw errors.too_many_pending({ sentence: tooManyTogether, ...retryAfter(ofAll.firstExpiry) })
}

/** Room for requests; `pendingMax` is set if a signer should have fewer pending requests of this app than usual. */
type Room = { isConnected: boolean; pendingMax?: number | undefined }

/**
 * Tells if the audit log records a request of an app.
 *
 * An app may send many requests, and audit events are kept for years. The audit log therefore records one
 * request an hour per app, and only a few of all unconnected apps together. Outcomes of requests are always recorded.
 * The transaction has locked the signer.
 */
export function isRecorded(tx: Transaction, asking: Asking, now: Date): Promise<boolean> {
  const after = addSeconds(now, -limits.signingRequestRecordedSeconds)
  return quotaStore.noteRecorded(tx, asking, {
    now,
    after,
    ofUnconnectedMax: limits.signingRequestRecordedOfUnconnectedMax,
  })
}

/** Deletes up to `batch` outdated records and returns how many. */
export function pruneRecords(db: Database, now: Date, batch: number): Promise<number> {
  return quotaStore.deleteRecordsBefore(db, addSeconds(now, -limits.signingRequestRecordedSeconds), batch)
}
