import { limits } from '@countersign/protocol/formats/limits'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { secondsAfter } from '#kernel/clock.ts'
import type { Database, Transaction } from '#kernel/database.ts'
import { sha256 } from '#kernel/digest.ts'
import { randomBytes } from '#kernel/random.ts'
import { refusals } from '#kernel/refusal.ts'
import { deleteExpiredRequests, insertPushedRequest, openParameters, takeParameters } from './store.ts'

const refuse = refusals({
  invalid_request_uri: [
    400,
    'This sign-in has expired, was used before, or belongs to another app. Start again there.',
  ],
})

/** Before the reference of every pushed request (RFC 9126 §2.2). */
const prefix = 'urn:ietf:params:oauth:request_uri:'
const Parameters = Type.Record(Type.String(), Type.String())

/** Whether a `request_uri` is of the kind that we give out. Any other would have to be fetched, which is never done. */
export function isPushed(requestUri: string): boolean {
  return requestUri.startsWith(prefix)
}

/** Keeps a request that was checked, and answers the reference to it: told this once, good for a minute. */
export async function keepPushed(
  db: Database,
  { clientId, parameters }: { clientId: string; parameters: Record<string, string> },
  now: Date,
): Promise<string> {
  const requestUri = prefix + randomBytes(32).toString('base64url')
  await insertPushedRequest(db, {
    referenceSha256: sha256(requestUri),
    clientId,
    parameters: JSON.stringify(parameters),
    expiresAt: secondsAfter(now, limits.pushedRequestLifetimeSeconds),
  })
  return requestUri
}

/**
 * The parameters behind a reference, for a page to show; that spends nothing. From the first time on the person has ten
 * minutes. Refuses `invalid_request_uri`, alike for another client's, an expired one and none.
 */
export async function openPushed(db: Database, clientId: string, requestUri: string, now: Date) {
  const expiresAt = secondsAfter(now, limits.pushedRequestOpenSeconds)
  return read(await openParameters(db, { clientId, referenceSha256: sha256(requestUri) }, { now, expiresAt }))
}

/** The parameters behind a reference, which ends when the transaction succeeds. Refuses `invalid_request_uri`. */
export async function spendPushed(tx: Transaction, clientId: string, requestUri: string, now: Date) {
  return read(await takeParameters(tx, { clientId, referenceSha256: sha256(requestUri) }, now))
}

/** Deletes up to `batch` requests that nobody answered in time, and says how many. */
export function prunePushed(db: Database, now: Date, batch: number): Promise<number> {
  return deleteExpiredRequests(db, now, batch)
}

function read(parameters: string | undefined): Record<string, string> {
  if (parameters === undefined) throw refuse.invalid_request_uri()
  return Value.Parse(Parameters, JSON.parse(parameters))
}
