import type { AuditChainState, BrokenLink } from '@countersign/protocol/operations/audit'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { equalBytes } from '#platform/crypto/secret.ts'
import { type Database, snapshot, transaction } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import { detailsDigest, linkHash, numberEvents } from './chain.ts'
import * as store from './chain-store.ts'

/** Erased details, as the database writes them. */
const noDetails = '{}'

/**
 * Verifies a part of the chain: `count` places from `from` on, and that the first one continues the place before. An
 * event whose details were erased with their salt is in order, and so is the lack of events up to the checkpoint.
 */
export async function verifyChain(db: Database, { from, count }: { from: number; count: number }) {
  await numberEvents(db)
  // Nodes have no snapshot in common.
  const unchanged = isDistributed(db) ? transaction : snapshot
  return unchanged(db, async (tx): Promise<AuditChainState> => {
    await store.holdChain(tx)
    const head = await store.findHead(tx)
    if (!head) return { checked: 0, erased: 0, last: null, head: null, checkpoint: null, broken: null, next: null }
    const first = Math.min(Math.max(from, head.prunedSequence + 1), head.sequence + 1)
    const to = Math.min(first + count - 1, head.sequence)
    // With the place before, whose hash the first one contains.
    const links = new Map((await store.listLinks(tx, { from: first - 1, to })).map((each) => [each.sequence, each]))
    const events = new Map((await store.listPlacedEvents(tx, { from: first, to })).map((each) => [each.sequence, each]))
    const checkpoint = placeOf(head.prunedSequence, head.prunedHash)
    const before = first - 1 === head.prunedSequence ? head.prunedHash : links.get(first - 1)?.hash

    let [checked, erased, previous] = [0, 0, before]
    let broken: BrokenLink | null = before === undefined ? { sequence: first - 1, reason: 'missing' } : null
    for (let sequence = first; sequence <= to && !broken && previous !== undefined; sequence += 1) {
      const link = links.get(sequence)
      const reason = objectionTo(events.get(sequence), link, previous)
      if (reason !== undefined || !link) broken = { sequence, reason: reason ?? 'missing' }
      else {
        checked += 1
        if (link.salt === null) erased += 1
        previous = link.hash
      }
    }
    if (!broken && to === head.sequence && !isSame(previous, head.hash))
      broken = { sequence: to, reason: 'head_differs' }
    return {
      ...{ checked, erased, broken, checkpoint },
      last: checked === 0 ? null : placeOf(first + checked - 1, previous),
      head: placeOf(head.sequence, head.hash),
      next: broken || to >= head.sequence ? null : String(to + 1),
    }
  })
}

function placeOf(sequence: number, hash: Uint8Array | null | undefined) {
  return hash ? { sequence, hash: toBase64(hash) } : null
}

/** Returns what is wrong with an event in its place. */
function objectionTo(
  event: (store.ChainedEvent & { sequence: number }) | undefined,
  link: store.Link | undefined,
  previous: Uint8Array | null,
): BrokenLink['reason'] | undefined {
  if (!link) return 'missing'
  if (!event) return 'event_missing'
  const { sequence, hash, digest, salt } = link
  if (!equalBytes(linkHash(event, { sequence, previous, digest }), hash)) return 'event_changed'
  const { details, app_name, device, origin_network: network, origin_request_id: requestId } = event
  const isErased = details === noDetails && [app_name, device, network, requestId].every((each) => each === null)
  const isInOrder = salt === null ? isErased : equalBytes(detailsDigest(event, salt), digest)
  return isInOrder ? undefined : 'details_changed'
}

function isSame(one: Uint8Array | null | undefined, other: Uint8Array | null): boolean {
  return one && other ? equalBytes(one, other) : (one ?? null) === other
}
