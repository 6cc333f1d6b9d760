import { csvRecord } from '@countersign/protocol/formats/files/csv'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { numberEvents } from '#platform/audit/chain.ts'
import { type AuditFilter, listNumberedEvents, type Reading } from '#platform/audit/event-list.ts'
import type { ServerContext } from '#platform/module/services.ts'

const pageCount = 500
const recheckSeconds = 5

type Export = {
  filter: AuditFilter
  format: 'csv' | 'jsonl'
  /** Throws if the reader may no longer read. */
  requireRights: () => Promise<unknown>
  /** How often the rights are checked again; 5 by default. */
  everySeconds?: number
}

/**
 * Writes the events of the service that a filter selects as the text of a file, newest first. The events are read while
 * the file is sent, from the replica if it has them, and only as long as the reader has the right.
 */
export async function* writeEvents(
  { largeReads, ...reading }: Reading & Pick<ServerContext, 'largeReads'>,
  { filter, format, requireRights, everySeconds = recheckSeconds }: Export,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvRecord(columns.map(([name]) => name))
  const write = format === 'csv' ? csvLine : jsonLine
  let checkedAt = performance.now()
  await numberEvents(reading.db)
  const read = largeReads.begin()
  for (let cursor: string | null | undefined; cursor !== null;) {
    if (performance.now() - checkedAt >= everySeconds * 1000) {
      await requireRights()
      checkedAt = performance.now()
    }
    const page = { before: cursor, count: pageCount }
    const { entries, nextCursor } = await read((db) => listNumberedEvents({ ...reading, db }, filter, page))
    if (entries.length > 0) yield entries.map(write).join('')
    cursor = nextCursor
  }
}

const columns: [name: string, of: (event: AuditEvent) => string | null | undefined][] = [
  ['sequence', ({ sequence }) => String(sequence)],
  ['entryId', ({ entryId }) => entryId],
  ['at', ({ at }) => at],
  ['action', ({ action }) => action],
  ['result', ({ result }) => result],
  ['actorKind', ({ actor }) => actor.kind],
  ['actorId', ({ actor }) => actor.id],
  ['actorName', ({ actor }) => actor.name],
  ['objectKind', ({ object }) => object?.kind],
  ['objectId', ({ object }) => object?.id],
  ['objectName', ({ object }) => object?.name],
  ['identityId', ({ identityId }) => identityId],
  ['clientId', ({ clientId }) => clientId],
  ['organizationId', ({ organizationId }) => organizationId],
  ['address', ({ address }) => address],
  ['requestId', ({ requestId }) => requestId],
  ['personRef', ({ personRef }) => personRef],
  ['details', ({ details }) => JSON.stringify(details)],
]

function csvLine(event: AuditEvent): string {
  return csvRecord(columns.map(([, of]) => of(event) ?? ''))
}

function jsonLine(event: AuditEvent): string {
  return `${JSON.stringify(event)}\n`
}
