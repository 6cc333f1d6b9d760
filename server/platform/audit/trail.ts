import { hash, randomBytes } from 'node:crypto'
import type { OrganizationId } from '@countersign/protocol/ids'
import { toBase64 } from '@countersign/protocol/formats/base64'
import {
  actsDigest,
  detailsDigest,
  type SignedAct,
  statementDigest,
  trailHead,
} from '@countersign/protocol/formats/acts/act'
import {
  type JsonObject,
  parseCanonicalJson,
  writeCanonicalJson,
} from '@countersign/protocol/formats/signing/canonical-json'
import { type Database, isReadOnly, isUnavailable, type Transaction, transaction } from '#platform/database/database.ts'
import { readPages } from '#platform/database/pages.ts'
import { type AuditEvent, recordPlacedEvent } from './audit-log.ts'
import type { DeletedEvent } from './chain-store.ts'
import { createEventId } from './event-id.ts'
import * as store from './trail-store.ts'

const organizationsPerRound = 100
const eventsPerBatch = 500
/** Bounds one run. What is left has its turn in the next one, and no other task or request waits long. */
const roundsMax = 20
const saltBytes = 16

/**
 * Gives the events of all organizations their places. An organization with many events delays no other one. Throws at
 * the end if those of an organization cannot be placed.
 */
export async function extendTrails(db: Database): Promise<void> {
  const failed = new Map<OrganizationId, unknown>()
  for (let round = 0; round < roundsMax; round += 1) {
    const except = [...failed.keys()]
    const organizations = await store.listOrganizationsWithPendingEvents(db, { except, count: organizationsPerRound })
    if (organizations.length === 0) break
    for (const organizationId of organizations)
      await placeBatch(db, organizationId).catch((error: unknown) => {
        if (isUnavailable(error)) throw error
        failed.set(organizationId, error)
      })
  }
  const [first] = failed
  if (!first) return
  const [organizationId, cause] = first
  throw new Error(`the trail of ${organizationId} cannot be extended, of ${failed.size} such trails`, { cause })
}

/** Gives the next events of an organization their places. */
async function placeBatch(db: Database, organizationId: OrganizationId): Promise<void> {
  const appended = await appendBatch(db, organizationId)
  // What waits and cannot be placed was deleted by the operator, and would keep others waiting.
  if (appended === 0) await store.forgetDeletedEvents(db, organizationId)
}

/**
 * Gives the events of an organization their places, so that an export contains all that was recorded before it. On a
 * read-only database it contains those that have a place.
 */
export async function extendTrail(db: Database, organizationId: OrganizationId): Promise<void> {
  try {
    while ((await appendBatch(db, organizationId)) === eventsPerBatch);
  } catch (error) {
    if (!isReadOnly(error)) throw error
  }
}

/**
 * Appends the next events of an organization to its trail. Concurrent calls append one after the other. Returns the
 * number of entries.
 */
function appendBatch(db: Database, organizationId: OrganizationId): Promise<number> {
  return transaction(db, async (tx) => {
    const locked = await store.lockTrail(tx, organizationId)
    const { sequence } = await placeEvents(tx, organizationId, locked)
    return sequence - locked.sequence
  })
}

/** Gives the next events of an organization their places in a locked trail. Returns the head after them. */
async function placeEvents(
  tx: Transaction,
  organizationId: OrganizationId,
  locked: Pick<store.TrailHeadRow, 'sequence' | 'head'>,
): Promise<Pick<store.TrailHeadRow, 'sequence' | 'head'>> {
  let { sequence, head } = locked
  const events = await store.listPendingEvents(tx, organizationId, eventsPerBatch)
  const rows = events.map((event) => {
    sequence += 1
    const salt = randomBytes(saltBytes)
    const details = detailsDigest(sha256, detailsOf(event), salt)
    const entry = entryOf(event, { organizationId, sequence, previous: head, details, acts: [] })
    head = trailHead(sha256, entry)
    return { eventId: event.entryId, sequence, entry: writeCanonicalJson(entry), salt }
  })
  if (rows.length > 0) await store.appendEntries(tx, organizationId, { rows, head })
  return { sequence, head }
}

/**
 * Gives the events of an organization that wait, up to a batch of them, their places. Returns the head after them, as
 * the next signed statement names it, and locks it until the transaction ends.
 */
export async function lockExtendedTrail(tx: Transaction, organizationId: OrganizationId): Promise<store.TrailHeadRow> {
  const locked = await store.lockTrail(tx, organizationId)
  return { ...(await placeEvents(tx, organizationId, locked)), lastAct: locked.lastAct }
}

/** Act to be appended. `previousAct` is the last signed statement that its first statement names. */
export type NewAct = {
  organizationId: OrganizationId
  event: AuditEvent
  /** What was signed, as canonical JSON, and the salt of its digest. */
  details: string
  digest: string
  salt: Uint8Array
  acts: [store.ActSignature, ...store.ActSignature[]]
  previousAct: string | null
  /** Proposal that it carries out, as canonical JSON. Its approvals follow the first signature. */
  proposal?: string | undefined
}

/**
 * Appends a signed act to the trail of its organization, after the events that wait, and records its audit event, both
 * in the transaction of the change. Returns false if another act was appended since the statement was written. The
 * caller has locked the organization, if it locks it at all: the trail is locked after it.
 */
export async function appendAct(tx: Transaction, act: NewAct, now: Date): Promise<boolean> {
  const { organizationId, event, details, digest, salt, acts } = act
  const locked = await store.lockTrail(tx, organizationId)
  if (locked.lastAct !== act.previousAct) return false
  const { sequence: last, head: previous } = await placeEvents(tx, organizationId, locked)
  const sequence = last + 1
  const entry = entryOf({ ...event, at: now }, { organizationId, sequence, previous, details: digest, acts })
  const eventId = createEventId()
  await recordPlacedEvent(tx, eventId, { ...event, details: { ...event.details, trailEntry: sequence } }, now)
  await store.appendSignedEntry(tx, organizationId, {
    row: { eventId, sequence, entry: writeCanonicalJson(entry), salt, details, proposal: act.proposal ?? null },
    acts: acts.map(({ statement, presence, signature }) => ({ statement, presence, signature })),
    head: trailHead(sha256, entry),
    lastAct: statementDigest(sha256, acts[0].statement),
  })
  return true
}

type Place = {
  organizationId: OrganizationId
  sequence: number
  previous: string | null
  details: string
  acts: store.ActSignature[]
}

/** Builds the entry of an event. */
function entryOf({ action, actor, at }: Pick<store.TrailEvent, 'action' | 'actor' | 'at'>, place: Place): JsonObject {
  const { acts: signatures, ...placed } = place
  const acts = actsDigest(sha256, signatures.map(toSignedAct)) ?? null
  return { version: 2, ...placed, action, actor, at: at.toISOString(), acts }
}

/**
 * Copies details into the trails from events of a range of places, which will be deleted, as far as verifiers of the
 * trails need them to know the council of an organization.
 */
export async function keepReplayedDetails(tx: Transaction, range: { after: number; to: number }): Promise<void> {
  const events = await store.listCouncilEvents(tx, range)
  const rows = events.map(({ organizationId, ...event }) => {
    return { organizationId, eventId: event.entryId, details: writeCanonicalJson(detailsOf(event)) }
  })
  if (rows.length > 0) await store.keepDetails(tx, rows)
}

/**
 * Deletes the salts of entries whose events were deleted, unless the entries contain the details: with a salt, details
 * can be guessed from an entry.
 */
export async function deleteSalts(tx: Transaction, events: DeletedEvent[]): Promise<void> {
  const placed = events.flatMap(({ organizationId, eventId }) => (organizationId ? [{ organizationId, eventId }] : []))
  if (placed.length > 0) await store.deleteSalts(tx, placed)
}

/** Lists what an entry says by a digest alone. */
function detailsOf({ entryId, identityId, clientId, details }: store.TrailEventDetails): JsonObject {
  return { entryId, identityId, clientId, details }
}

/** Lists entries of a trail in a range, oldest first, without details. */
export async function listTrailEntries(
  db: Database,
  organizationId: OrganizationId,
  range: { after: number; to: number },
  count: number,
): Promise<{ entry: string; acts: SignedAct[] }[]> {
  const rows = await store.listTrailRows(db, organizationId, range, count)
  return rows.map(({ entry, acts }) => ({ entry, acts: acts.map(toSignedAct) }))
}

/**
 * Writes the trail of an organization after an entry, and up to one if given, as JSON lines, in pieces that are read
 * while it is sent.
 */
export async function* writeTrail(
  db: Database,
  organizationId: OrganizationId,
  { after, to }: { after: number; to?: number | undefined },
): AsyncGenerator<string> {
  const pages = readPages<store.TrailRow>(eventsPerBatch, (last, count) =>
    store.listTrailRows(db, organizationId, { after: last?.sequence ?? after, ...(to !== undefined && { to }) }, count),
  )
  for await (const rows of pages) yield rows.map(lineOf).join('')
}

/**
 * Formats a record as verifiers read it. An event that was deleted, with its salt or without, leaves an entry without
 * details, unless the trail contains them.
 */
function lineOf({ entry, salt, event, ownDetails, proposal, acts }: store.TrailRow): string {
  const details = ownDetails ? parseCanonicalJson(ownDetails) : event && acts.length === 0 ? detailsOf(event) : null
  const shown = salt && details ? { details, salt: toBase64(salt) } : {}
  return `${JSON.stringify({ entry, ...shown, ...(proposal !== null && { proposal }), acts: acts.map(toSignedAct) })}\n`
}

function toSignedAct({ statement, presence, signature }: store.ActSignature): SignedAct {
  return { statement, presence: toBase64(presence), signature: toBase64(signature) }
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer')
}
