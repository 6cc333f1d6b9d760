/**
 * Promise of the log to contain a leaf. The answer to the client that makes a key comes before the leaf has an index,
 * so it contains this signature of the log's key instead of a proof.
 */
import type { NoteKey, NoteSuite } from './checkpoint.ts'
import { isSignedBy } from './ed25519.ts'
import { frame } from './frame.ts'
import { isCanonicalInstant } from './instant.ts'
import { hashKeyEvent } from './key-event.ts'
import { toBase64 } from '../base64.ts'

export type InclusionPromise = {
  /** Instant from which a tree without the leaf breaks the promise: one day after `issued`. */
  due: string
  issued: string
  /** Hash of the leaf (RFC 9162 §2.1.1), base64. */
  leaf: string
  /** Name of the log. */
  log: string
}

/** Promise with the Ed25519 signature by the log's key, base64. */
export type SignedInclusionPromise = InclusionPromise & { signature: string }

/** First error found in a promise. */
export type PromiseError = 'malformed_promise' | 'other_log' | 'other_leaf' | 'other_due' | 'invalid_promise'

export const promiseSeconds = 24 * 3600

/** Builds the message that the log's key signs. */
export function inclusionPromiseMessage({ due, issued, leaf, log }: InclusionPromise): Uint8Array<ArrayBuffer> {
  return frame('countersign/inclusion-promise/v2', { due, issued, leaf, log })
}

/** Returns the first error of a promise for this leaf, or undefined if the log's key has given it. */
export function findPromiseError(
  { sha256, verifyEd25519 }: NoteSuite,
  { signature, ...promise }: SignedInclusionPromise,
  { leaf, logKey }: { leaf: string; logKey: NoteKey },
): PromiseError | undefined {
  const { due, issued } = promise
  if (!isCanonicalInstant(due) || !isCanonicalInstant(issued)) return 'malformed_promise'
  if (promise.log !== logKey.name) return 'other_log'
  if (promise.leaf !== hashKeyEvent(sha256, leaf)) return 'other_leaf'
  if (Date.parse(due) - Date.parse(issued) !== promiseSeconds * 1000) return 'other_due'
  const key = { publicKey: toBase64(logKey.publicKey), signature }
  return isSignedBy(verifyEd25519, key, inclusionPromiseMessage(promise)) ? undefined : 'invalid_promise'
}
