import { limits } from '@countersign/protocol/formats/limits'
import { secondsAfter, secondsUntil } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { textKey, type RateLimits } from '#platform/rate-limits/rate-limit.ts'
import { refusals } from '#platform/refusal.ts'
import type { readCounts } from './pending-store.ts'
import * as quotaStore from './quota-store.ts'

const refuse = refusals({
  too_many_pending: [429, 'Too many requests of this app wait for this signer already.'],
})

const tooManyTogether = 'Too many requests of all apps wait for this signer already.'

/** An app that asks a signer, whose it is (null for the operator), and whether the signer has connected it. */
export type Asking = { signerId: string; clientId: string; ownerUserId: string | null; isConnected: boolean }

/** What waits for a signer already. */
type Pending = ReturnType<typeof readCounts>

/** Counts a request, also one that is refused afterwards. Refuses `rate_limited`. */
export async function countAsking(rateLimits: RateLimits, { signerId, clientId }: Asking): Promise<void> {
  await rateLimits.count('signing request of an app to one signer', textKey(`${clientId} ${signerId}`))
}

/**
 * Counts a request of an app that the signer has not connected, for which there is room: what is refused uses nothing
 * up. The apps of one owner may ask together what one app may, and all of them together not without bounds. Refuses
 * `rate_limited`.
 */
export async function countUnconnected(rateLimits: RateLimits, asking: Asking): Promise<void> {
  const { signerId, clientId, ownerUserId } = asking
  const ofOwner = textKey(`${ownerUserId ?? clientId} ${signerId}`)
  await rateLimits.count('signing request of an unconnected app to one signer', ofOwner)
  await rateLimits.count('signing request of unconnected apps to one signer', signerId)
}

/**
 * An app may not bombard anybody, and even less somebody who never let it in: then the apps of its owner count
 * together. Apps that are connected share what there is, but each has a few of its own, so that none keeps another out;
 * the others share what there is for them. Refuses `too_many_pending`.
 */
export function requireRoom({ ofApp, ofAll }: Pending, { isConnected, pendingMax }: Room, now: Date): void {
  const ofAppMax = isConnected ? limits.signingPendingMax : limits.signingPendingOfUnconnectedMax
  const togetherMax = isConnected
    ? limits.signingPendingOfConnectedTogetherMax
    : limits.signingPendingOfUnconnectedTogetherMax
  const beyondMax = isConnected ? limits.signingPendingOfConnectedBeyondMax : 0
  const retryAfter = (expiry: Date) => ({ headers: { 'retry-after': String(secondsUntil(now, expiry)) } })
  if (ofApp.count >= (pendingMax ?? ofAppMax)) throw refuse.too_many_pending(retryAfter(ofApp.firstExpiry))
  if (ofAll.count >= togetherMax && ofApp.count >= beyondMax)
    throw refuse.too_many_pending({ sentence: tooManyTogether, ...retryAfter(ofAll.firstExpiry) })
}

/** `pendingMax` where a signer should have fewer requests of the app before it than of others. */
type Room = { isConnected: boolean; pendingMax?: number | undefined }

/**
 * Whether the audit log is to record that an app asks. An app asks as often as it likes, and nothing is removed from
 * the audit log: so it records one request an hour of each app, and of those that are not connected only a few
 * together. What comes of a request is always recorded. The transaction holds the signer.
 */
export function isRecorded(tx: Transaction, asking: Asking, now: Date): Promise<boolean> {
  const after = secondsAfter(now, -limits.signingRequestRecordedSeconds)
  return quotaStore.noteRecorded(tx, asking, {
    now,
    after,
    ofUnconnectedMax: limits.signingRequestRecordedOfUnconnectedMax,
  })
}

/** Forgets up to `batch` of what was noted of records that say nothing any more, and says how many. */
export function pruneRecords(db: Database, now: Date, batch: number): Promise<number> {
  return quotaStore.deleteRecordsBefore(db, secondsAfter(now, -limits.signingRequestRecordedSeconds), batch)
}
