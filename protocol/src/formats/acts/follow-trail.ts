/**
 * Follows the trail of an organization from a head that is known to a later one. It checks the chain, and the order and
 * time of the acts in it. A member who followed it before notices entries that were changed, left out or inserted, and
 * an act that is there again or at another time. Signatures are verified with the whole trail
 * (`trail-verification.ts`).
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

export type TrailLinkError =
  | 'malformed_entry'
  | 'other_organization'
  | 'sequence_gap'
  | 'broken_trail'
  | 'other_acts'
  | ActOrderError

type ActOrderError = 'malformed_act' | 'act_out_of_order' | 'out_of_time'

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
    const flaw = findOrderError(entry, signed, lastAct)
    if (flaw) return { flaw }
    const statements = signed.map(({ statement }) => statementDigest(sha256, statement))
    acts.push(...statements)
    sequence += 1
    head = trailHead(sha256, entry)
    lastAct = statements[0] ?? lastAct
  }
  return { sequence, head, lastAct, acts }
}

/** Checks that an act names the one before it, and that it and its approvals were signed for the time of the entry. */
function findOrderError(
  { at }: JsonObject,
  signed: readonly SignedAct[],
  lastAct: TrailPlace['lastAct'],
): ActOrderError | undefined {
  for (const [index, { statement }] of signed.entries()) {
    const stated = parseCanonicalJson(statement)
    if (!isJsonObject(stated) || !isText(stated['at']) || !isText(stated['expiresAt']) || !isText(at))
      return 'malformed_act'
    if (index === 0 && lastAct !== undefined && stated['previousAct'] !== lastAct) return 'act_out_of_order'
    if (at < stated['at'] || at >= stated['expiresAt']) return 'out_of_time'
  }
  return undefined
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
