import type { Checkpoint, NoteSuite } from '../formats/signing/checkpoint.ts'
import {
  listMissingKeyProofs,
  readKeyHistory,
  type HistoryKey,
  type MissingKeyProof,
} from '../formats/signing/key-history.ts'
import { containsLeaf } from '../formats/signing/key-inclusion.ts'
import type { LoggedKeyEvent } from './transparency.ts'

/** Error of the key of a signature: it is not in the log, its history has an error, or it was not in force. */
export type ReceiptKeyError = 'key_not_in_log' | 'invalid_key_history' | 'key_not_in_force'

/** Key of a signature as the log has it, and what is not proved of it. */
export type ReceiptKey = HistoryKey & { unproved: MissingKeyProof[] }

type Signature = {
  identityId: string
  publicKey: string
  keyVersion: number
  /** Time of the signature. */
  at: string
  /** All log entries of the identity under the checkpoint. */
  history: readonly LoggedKeyEvent[]
}

/** Clocks of two processes of a service may differ by this much. */
const toleranceMilliseconds = 10 * 60 * 1000

/**
 * Verifies the key of a signature: the tree of the checkpoint contains each entry of its identity, all of them together
 * are a history without error, and the key was in force at the time of the signature.
 */
export function verifyReceiptKey(
  suite: NoteSuite,
  checkpoint: Checkpoint,
  { identityId, publicKey, keyVersion, at, history }: Signature,
): ReceiptKey | ReceiptKeyError {
  if (!history.every((entry) => containsLeaf(suite.sha256, checkpoint, entry))) return 'key_not_in_log'
  const found = readKeyHistory(suite, { log: checkpoint.origin, identityId, leaves: history })
  if (!('keys' in found)) return found.error === 'other_identity' ? 'key_not_in_log' : 'invalid_key_history'
  const key = found.keys.find((each) => each.keyVersion === keyVersion && each.publicKey === publicKey)
  if (!key) return 'key_not_in_log'
  if (!wasInForce(key, Date.parse(at))) return 'key_not_in_force'
  return { ...key, unproved: listMissingKeyProofs(found, keyVersion) }
}

/**
 * Returns whether a key was in force at a time in milliseconds, or by a clock that differs by ten minutes at most. `at`
 * is not a number if the text was a leap second, which ECMAScript cannot parse: then no key was in force.
 */
export function wasInForce({ createdAt, endedAt }: Pick<HistoryKey, 'createdAt' | 'endedAt'>, at: number): boolean {
  if (!(at >= Date.parse(createdAt) - toleranceMilliseconds)) return false
  return endedAt === null || at <= Date.parse(endedAt) + toleranceMilliseconds
}
