/**
 * Follows the trail of an organization from a head that is known to a later one. It checks the chain alone: a browser
 * that followed it before notices that entries were changed, left out or put in between. Signatures are verified with
 * the whole trail (`trail-verification.ts`).
 */
import { isObject } from '../json.ts'
import { type JsonObject, parseCanonicalJson } from '../signing/canonical-json.ts'
import type { Sha256 } from '../signing/merkle-tree.ts'
import { actsDigest, type SignedAct, statementDigest, trailHead } from './act.ts'

/** Entry of a trail with its signatures. `entry` is canonical JSON. */
export type LinkedEntry = { entry: string; acts: readonly SignedAct[] }

/**
 * Place in a trail: the number of entries, the digest of the last one, and the digest of the statement of the last act.
 * `lastAct` is null if there was no act, and undefined if that is not known.
 */
export type TrailPlace = { sequence: number; head: string | null; lastAct: string | null | undefined }

export type TrailLinkError = 'malformed_entry' | 'other_organization' | 'sequence_gap' | 'broken_trail' | 'other_acts'

/** The place after all entries, and the digests of the statements of all acts on the way. */
export type FollowedTrail = TrailPlace & { acts: readonly string[] }

/** Follows entries from a place; returns the place after them, or the first error. */
export function followTrail(
  sha256: Sha256,
  organizationId: string,
  from: TrailPlace,
  entries: readonly LinkedEntry[],
): FollowedTrail | { flaw: TrailLinkError } {
  let { sequence, head, lastAct } = from
  const acts: string[] = []
  for (const { entry: text, acts: signed } of entries) {
    const entry = parseCanonicalJson(text)
    if (!isJsonObject(entry)) return { flaw: 'malformed_entry' }
    if (entry['organizationId'] !== organizationId) return { flaw: 'other_organization' }
    if (entry['sequence'] !== sequence + 1) return { flaw: 'sequence_gap' }
    if (entry['previous'] !== head) return { flaw: 'broken_trail' }
    if (actsDigest(sha256, signed) !== entry['acts']) return { flaw: 'other_acts' }
    const statements = signed.map(({ statement }) => statementDigest(sha256, statement))
    acts.push(...statements)
    sequence += 1
    head = trailHead(sha256, entry)
    lastAct = statements[0] ?? lastAct
  }
  return { sequence, head, lastAct, acts }
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value) && !Array.isArray(value)
}

/** Checks the form of an entry that a service has answered. */
export function isLinkedEntry(value: unknown): value is LinkedEntry {
  if (!isObject(value) || typeof value['entry'] !== 'string' || !Array.isArray(value['acts'])) return false
  return value['acts'].every(
    (act) => isObject(act) && [act['statement'], act['presence'], act['signature']].every(isText),
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
