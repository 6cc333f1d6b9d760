/**
 * Evidence of an alarm, as a file that its owner can show to others. It is made of what the service has answered and of
 * what the browser had remembered; `findings.ts` says what it proves.
 */
import { isObject } from '../json.ts'
import type { LoggedLeaf } from './answers.ts'
import type { SizeProof } from './log-heads.ts'
import { isPromisedLeaf, type PromisedLeaf } from './record.ts'

/** Leaf that a browser had accepted, which the history does not show any more. */
export type RememberedLeaf = { head: string; leaves: number }

export type Evidence = {
  version: 1
  /** Code of the alarm. */
  code: string
  /** Instant by the clock of the device. */
  at: string
  identityId: string | null
  /** Key of the log as the browser remembered it, in the format of C2SP log tools; null if it knew none. */
  logKey: string | null
  /** Signed heads: the remembered ones first. */
  checkpoints: string[]
  /** Answer of the log to the question how one head continues the other; null if it had none. */
  proof: SizeProof | null
  /** Leaves of the identity as the service answered them, with proofs under the last head. */
  leaves: LoggedLeaf[]
  remembered: RememberedLeaf | null
  promised: PromisedLeaf | null
  /** Key that the service named and whose private half the master key does not open, base64. */
  publicKey: string | null
}

/** Writes evidence as a file. */
export function writeEvidence(evidence: Evidence): string {
  return `${JSON.stringify(evidence, null, 2)}\n`
}

/** Parses evidence; returns undefined for anything else. */
export function readEvidence(value: unknown): Evidence | undefined {
  return isEvidence(value) ? value : undefined
}

function isEvidence(value: unknown): value is Evidence {
  if (!isObject(value) || value['version'] !== 1 || !isText(value['code']) || !isText(value['at'])) return false
  const { identityId, logKey, checkpoints, proof, leaves, remembered, promised, publicKey } = value
  if (![identityId, logKey, publicKey].every((each) => each === null || isText(each))) return false
  if (!Array.isArray(checkpoints) || !checkpoints.every(isText)) return false
  if (!Array.isArray(leaves) || !leaves.every(isLoggedLeaf)) return false
  if (!(proof === null || isSizeProof(proof)) || !(promised === null || isPromisedLeaf(promised))) return false
  return remembered === null || (isObject(remembered) && isText(remembered['head']) && isInteger(remembered['leaves']))
}

/** Checks that a value has the form of a leaf with its proof. */
export function isLoggedLeaf(value: unknown): value is LoggedLeaf {
  return isObject(value) && isInteger(value['index']) && isText(value['leaf']) && isTexts(value['hashes'])
}

function isSizeProof(value: unknown): value is SizeProof {
  return isObject(value) && isInteger(value['from']) && isInteger(value['to']) && isTexts(value['hashes'])
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
