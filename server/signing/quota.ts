import { limits } from '@countersign/protocol/formats/limits'
import { secondsAfter, secondsUntil } from '#kernel/clock.ts'
import type { Database, Transaction } from '#kernel/database.ts'
import { textKey, type RateLimits } from '#kernel/rate-limit.ts'
import { refusals } from '#kernel/refusal.ts'
import type { readCounts } from './pending-store.ts'
import { deleteRecordsBefore, noteRecorded } from './quota-store.ts'

const refuse = refusals({
  too_many_pending: [429, 'Too many requests of this app wait for this signer already.'],
})

const tooManyTogether = 'Too many requests of all apps wait for this signer already.'

/** An app that asks an identity or organization, and whether that has connected it. */
export type Asking = { signerId: string; clientId: string; isConnected: boolean }

/**
 * Counts a request, also one that is refused afterwards. An app that the signer has not connected may ask rarely, and
 * so may all of those together: whoever registers many apps asks no more by that. Refuses `rate_limited`.
 */
export async function countAsking(rateLimits: RateLimits, { signerId, clientId, isConnected }: Asking): Promise<void> {
  const ofApp = textKey(`${clientId} ${signerId}`)
  await rateLimits.count('signing request of an app to one signer', ofApp)
  if (isConnected) return
  await rateLimits.count('signing request of an unconnected app to one signer', ofApp)
  await rateLimits.count('signing request of unconnected apps to one signer', signerId)
}

/** What waits for a signer already. */
type Pending = ReturnType<typeof readCounts>

/**
 * An app may not bombard anybody, and even less somebody who never let it in. Apps that are not connected share what
 * there is for them, so that they keep none out that is. Refuses `too_many_pending`.
 */
export function requireRoom({ ofApp, ofAll }: Pending, { isConnected, pendingMax }: Room, now: Date): void {
  const ofAppMax = isConnected ? limits.signingPendingMax : limits.signingPendingOfUnconnectedMax
  const togetherMax = isConnected
    ? limits.signingPendingOfConnectedTogetherMax
    : limits.signingPendingOfUnconnectedTogetherMax
  const retryAfter = (expiry: Date) => ({ headers: { 'retry-after': String(secondsUntil(now, expiry)) } })
  if (ofApp.count >= (pendingMax ?? ofAppMax)) throw refuse.too_many_pending(retryAfter(ofApp.firstExpiry))
  if (ofAll.count >= togetherMax)
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
  return noteRecorded(tx, asking, { now, after, ofUnconnectedMax: limits.signingRequestRecordedOfUnconnectedMax })
}

/** Forgets up to `batch` of what was noted of records that say nothing any more, and says how many. */
export function pruneRecords(db: Database, now: Date, batch: number): Promise<number> {
  return deleteRecordsBefore(db, secondsAfter(now, -limits.signingRequestRecordedSeconds), batch)
}
