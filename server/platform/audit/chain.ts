import { hash, randomBytes } from 'node:crypto'
import { concatBytes } from '@countersign/protocol/formats/signing/bytes'
import { frame } from '@countersign/protocol/formats/signing/frame'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { rest } from '#platform/clock.ts'
import { type Database, isReadOnly, type Transaction, transaction } from '#platform/database/database.ts'
import type { Logger } from '#platform/observability/log.ts'
import { deleteSalts, keepReplayedDetails } from './trail.ts'
import * as store from './chain-store.ts'

const batchEvents = 500
/** Bounds one run. What is left has its turn in the next one, and no other task or request waits long. */
const roundsMax = 20
const restMilliseconds = 1000
const saltBytes = 16

/** Gives committed events their places every second, as long as this process runs. */
export function startNumbering({ db, log }: { db: Database; log: Logger }) {
  const stopped = new AbortController()
  const running = (async () => {
    while (!stopped.signal.aborted) {
      await numberEvents(db).catch((error: unknown) => log.warn({ error }, 'audit events not numbered'))
      await rest(restMilliseconds, stopped.signal)
    }
  })()
  return {
    async stop() {
      stopped.abort()
      await running
    },
  }
}

/**
 * Gives committed events their places: numbers without a gap, and the hashes of a chain. An event that commits later
 * gets a higher number, whatever its time and ID, so a reader that has seen a number has seen all below it. A reader
 * calls this first, so that it sees what was committed before. On a read-only database it sees those that have a place.
 */
export async function numberEvents(db: Database): Promise<void> {
  try {
    for (let round = 0; round < roundsMax; round += 1) if ((await numberBatch(db)) < batchEvents) return
  } catch (error) {
    if (!isReadOnly(error)) throw error
  }
}

/** Gives the next events their places. One process at a time locks the head. Returns the number of events. */
async function numberBatch(db: Database): Promise<number> {
  if (!(await store.hasUnnumberedEvent(db))) return 0
  return transaction(db, async (tx) => {
    const head = await store.lockHead(tx)
    const events = await store.listUnnumberedEvents(tx, batchEvents)
    let [{ sequence }, previous] = [head, head.hash]
    const links = events.map((event) => {
      sequence += 1
      const salt = randomBytes(saltBytes)
      const digest = detailsDigest({ ...event, origin_is_chained: true }, salt)
      previous = linkHash(event, { sequence, previous, digest })
      return { eventId: event.event_id, sequence, hash: previous, digest, salt }
    })
    if (links.length > 0) await store.appendLinks(tx, links)
    return links.length
  })
}

/** Reads the instant before which events are deleted. */
type ReadBorder = (db: Database | Transaction) => Promise<Date>

/**
 * Deletes the first events of the chain that happened before an instant, up to `batch`. The chain continues from the
 * last one, whose hash stays. Trails of organizations lose the salts of these events, and keep the details that
 * verifiers of councils need. Returns the number of deleted events.
 */
export async function deleteEventsBefore(db: Database, readBorder: ReadBorder, batch: number): Promise<number> {
  const findLast = async (from: Database | Transaction, head: store.ChainHead) =>
    store.findLastBefore(from, { after: head.prunedSequence, border: await readBorder(from), count: batch })
  const head = await store.findHead(db)
  // Most often there is none, and the head is not locked in vain.
  if (!head || (await findLast(db, head)) === undefined) return 0
  return transaction(db, async (tx) => {
    const locked = await store.lockHead(tx)
    const last = await findLast(tx, locked)
    if (last === undefined) return 0
    await keepReplayedDetails(tx, { after: locked.prunedSequence, to: last })
    const deleted = await store.deleteEventsUpTo(tx, last, locked)
    await deleteSalts(tx, deleted)
    return deleted.length
  })
}

/** Returns the last place of the chain, or undefined before the first event. */
export async function findChainHead(db: Database): Promise<{ sequence: number; hash: Uint8Array } | undefined> {
  const head = await store.findHead(db)
  return head?.hash ? { sequence: head.sequence, hash: head.hash } : undefined
}

/** Takes all events out of their places, so that they get new ones after a chain that is restored. */
export async function unnumberEvents(tx: Transaction): Promise<void> {
  await store.lockHead(tx)
  await store.unnumberEvents(tx)
}

/** Computes the digest of what can be erased. Without the salt it does not show it. */
export function detailsDigest(event: store.ChainedEvent, salt: Uint8Array): Uint8Array {
  const { details, app_name, device, origin_network: network, origin_request_id: requestId } = event
  // The digests of version 0.1.0 do not contain the origin.
  const origin = event.origin_is_chained === true ? { network, requestId } : {}
  const erasable = { details, appName: app_name, device, ...origin }
  return sha256(frame('countersign/audit-details/v2', erasable, concatBytes(Uint8Array.of(0), salt)))
}

type Place = { sequence: number; previous: Uint8Array | null; digest: Uint8Array }

/** Computes the hash of an event in its place. */
export function linkHash(event: store.ChainedEvent, { sequence, previous, digest }: Place): Uint8Array {
  const { operator_kind: kind, operator_id: id, operator_name: name } = event
  return sha256(
    frame('countersign/audit/v2', {
      action: event.action,
      actor: event.actor,
      at: event.occurred_at.toISOString(),
      clientId: event.client_id,
      details: toBase64(digest),
      entryId: event.event_id,
      identityId: event.identity_id,
      operator: kind && { kind, id, name },
      organizationId: event.organization_id,
      previous: previous && toBase64(previous),
      sequence,
      userId: event.user_id,
    }),
  )
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer')
}
