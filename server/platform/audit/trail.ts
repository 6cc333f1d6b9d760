import { hash, randomBytes } from 'node:crypto'
import type { OrganizationId } from '@countersign/protocol/ids'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { actsDigest, detailsDigest, trailHead } from '@countersign/protocol/formats/acts/act'
import { type JsonObject, writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import { type Database, isReadOnly, transaction } from '#platform/database/database.ts'
import { readPages } from '#platform/database/pages.ts'
import * as store from './trail-store.ts'

const organizationsPerRound = 100
const eventsPerBatch = 500
/** Bounds one run. What is left has its turn in the next one, and no other task or request waits long. */
const roundsMax = 20
const saltBytes = 16

/** Gives the events of all organizations their places. An organization with many events delays no other one. */
export async function extendTrails(db: Database): Promise<void> {
  for (let round = 0; round < roundsMax; round += 1) {
    const organizations = await store.listOrganizationsWithPendingEvents(db, organizationsPerRound)
    if (organizations.length === 0) return
    for (const organizationId of organizations) {
      const appended = await appendBatch(db, organizationId)
      // What waits and cannot be placed was deleted by the operator, and would keep others waiting.
      if (appended === 0) await store.forgetDeletedEvents(db, organizationId)
    }
  }
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
    let { sequence, head } = await store.lockTrail(tx, organizationId)
    const events = await store.listPendingEvents(tx, organizationId, eventsPerBatch)
    const rows = events.map((event) => {
      sequence += 1
      const salt = randomBytes(saltBytes)
      const entry = entryOf(event, { organizationId, sequence, previous: head, salt })
      head = trailHead(sha256, entry)
      return { eventId: event.entryId, sequence, entry: writeCanonicalJson(entry), salt }
    })
    if (rows.length > 0) await store.appendEntries(tx, organizationId, { rows, head })
    return rows.length
  })
}

type Place = { organizationId: OrganizationId; sequence: number; previous: string | null; salt: Uint8Array }

/** Builds the entry of an event, without signatures. */
function entryOf(event: store.TrailEvent, { salt, ...place }: Place): JsonObject {
  const { action, actor, at } = event
  const details = detailsDigest(sha256, detailsOf(event), salt)
  return { version: 2, ...place, action, actor, at: at.toISOString(), details, acts: actsDigest(sha256, []) ?? null }
}

/** Lists what an entry says by a digest alone. */
function detailsOf({ entryId, identityId, clientId, details }: store.TrailEventDetails): JsonObject {
  return { entryId, identityId, clientId, details }
}

/** Writes the trail of an organization after an entry as JSON lines, in pieces that are read while it is sent. */
export async function* writeTrail(db: Database, organizationId: OrganizationId, after: number): AsyncGenerator<string> {
  const pages = readPages<store.TrailRow>(eventsPerBatch, (last, count) =>
    store.listTrailRows(db, organizationId, last?.sequence ?? after, count),
  )
  for await (const rows of pages) yield rows.map(lineOf).join('')
}

/**
 * Formats a record as verifiers read it. An event that the operator has deleted, with its salt or without, leaves an
 * entry without details.
 */
function lineOf({ entry, salt, event }: store.TrailRow): string {
  const details = event && salt && { details: detailsOf(event), salt: toBase64(salt) }
  return `${JSON.stringify({ entry, ...details, acts: [] })}\n`
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer')
}
