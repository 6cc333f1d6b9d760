import { followTrail, type LinkedEntry, type TrailLinkError } from '@countersign/protocol/formats/acts/follow-trail'
import { statementDigest } from '@countersign/protocol/formats/acts/act'
import { sha256 } from '@noble/hashes/sha2.js'
import type { StatedByService } from './statement.ts'
import type { RememberedTrail } from './trail-memory.ts'

/** Contradiction between the trail that the service names and the one that this device has followed. */
export type TrailAlarmCode = TrailLinkError | 'trail_cut' | 'trail_rewritten' | 'act_missing'

/**
 * Result of the comparison. An act that was started before the last one that this device knows is `outdated`: its trail
 * may be shorter, because two tabs started acts at once.
 */
export type TrailCheck = { trail: RememberedTrail } | { alarm: TrailAlarmCode } | 'outdated'

/** More than clocks of the service's processes differ, and requests take. */
const toleranceMilliseconds = 60_000

type Stated = Pick<StatedByService, 'at' | 'trail' | 'previousAct'> & { role: 'sign' | 'approve' }

/**
 * Compares the trail that a statement names with the one that this device remembers.
 *
 * @param entries all entries after the remembered head, up to the one that the statement names.
 */
export function checkTrail(
  organizationId: string,
  remembered: RememberedTrail | undefined,
  { at, trail, previousAct, role }: Stated,
  entries: readonly LinkedEntry[],
): TrailCheck {
  if (!remembered) {
    // The first statement is believed. An approval names no act before it.
    const lastAct = role === 'sign' ? previousAct : undefined
    return { trail: { ...trail, lastAct, at, ownAct: null } }
  }
  const isLater = Date.parse(at) > Date.parse(remembered.at) + toleranceMilliseconds
  if (trail.sequence < remembered.sequence) return isLater ? { alarm: 'trail_cut' } : 'outdated'
  const followed = followTrail(sha256, organizationId, remembered, entries)
  if ('flaw' in followed) return { alarm: followed.flaw }
  const { acts, sequence, head, lastAct } = followed
  if (sequence !== trail.sequence) return { alarm: 'trail_cut' }
  if (head !== trail.head) return { alarm: 'trail_rewritten' }
  const { ownAct } = remembered
  if (ownAct && !acts.includes(ownAct.statement)) return at >= ownAct.expiresAt ? { alarm: 'act_missing' } : 'outdated'
  const latest = at > remembered.at ? at : remembered.at
  return { trail: { sequence, head, lastAct, at: latest, ownAct: null } }
}

/** Notes an act that was done: the entries after the remembered head must contain it. */
export function withOwnAct(
  trail: RememberedTrail,
  { text, expiresAt }: { text: string; expiresAt: string },
): RememberedTrail {
  return { ...trail, ownAct: { statement: statementDigest(sha256, text), expiresAt } }
}
