/**
 * Leaf of the log of signing keys: the head of the operator's audit log, once a day. The audit log is a chain of
 * hashes, so a head commits to all events before it, and shows nothing of them but their number.
 */
import { isObject } from '../json.ts'
import { toBase64 } from '../base64.ts'
import { parseCanonicalJson, writeCanonicalJson } from '../signing/canonical-json.ts'
import { isCanonicalInstant } from '../signing/instant.ts'
import { hashKeyEvent, isDigest } from '../signing/key-event.ts'
import type { Sha256 } from '../signing/merkle-tree.ts'

export type AuditHead = {
  at: string
  /** Hash of the last place, base64. */
  head: string
  /** Hash of the leaf with the head before, base64; null in the first one. */
  previous: string | null
  /** Number of the last place. */
  sequence: number
}

/** What the next head is checked against: the last one, and the hash of its leaf. */
export type AuditHeadState = AuditHead & { leafHash: string }

/** First error of a leaf, or of the order of two. */
export type AuditHeadError = 'malformed_leaf' | 'broken_chain' | 'time_went_back' | 'place_went_back'

const event = 'audit'
const version = 2

export function writeAuditHead({ at, head, previous, sequence }: AuditHead): string {
  return writeCanonicalJson({ at, event, head, previous, sequence, version })
}

/** Checks whether a leaf says that it is a head of the audit log, and not a key event. */
export function isAuditHead(leaf: string): boolean {
  const fields = parseCanonicalJson(leaf)
  return isObject(fields) && fields['event'] === event
}

/** Parses a leaf; returns undefined if the text is not the canonical form of a head. */
export function readAuditHead(sha256: Sha256, leaf: string): AuditHeadState | undefined {
  const found = parseAuditHead(leaf)
  return found && { ...found, leafHash: hashKeyEvent(sha256, leaf) }
}

function parseAuditHead(leaf: string): AuditHead | undefined {
  const fields = parseCanonicalJson(leaf)
  if (!isObject(fields)) return undefined
  const { at, head, previous, sequence } = fields
  if (typeof at !== 'string' || !isCanonicalInstant(at) || !isDigest(head)) return undefined
  if (!(previous === null || isDigest(previous))) return undefined
  if (typeof sequence !== 'number' || !Number.isSafeInteger(sequence) || sequence < 1) return undefined
  const found = { at, head, previous, sequence }
  return writeAuditHead(found) === leaf ? found : undefined
}

/** Checks the next head in the log. `state` is undefined before the first one. Hostile leaves do not make it throw. */
export function advanceAuditHeads(
  sha256: Sha256,
  state: AuditHeadState | undefined,
  leaf: string,
): AuditHeadState | AuditHeadError {
  const next = readAuditHead(sha256, leaf)
  if (!next) return 'malformed_leaf'
  if (next.previous !== (state?.leafHash ?? null)) return 'broken_chain'
  if (state && next.at < state.at) return 'time_went_back'
  if (state && next.sequence <= state.sequence) return 'place_went_back'
  return next
}

/** Computes the digest under which the log files these leaves, as it does those of an identity. */
export function auditDigest(sha256: Sha256): string {
  return toBase64(sha256(new TextEncoder().encode('countersign/transparency/audit/v1')))
}
