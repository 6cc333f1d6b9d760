import type { OrganizationAuditEntry } from '@countersign/protocol/operations/audit'
import type { Database } from '#platform/database/database.ts'
import { readPages } from '#platform/database/pages.ts'
import * as store from './store.ts'

type Wanted = { organizationId: string; before?: string | undefined; action?: string | undefined }

const batch = 500

/** What was done in an organization, the newest first: `count` entries older than `before`. */
export async function listTrail(db: Database, wanted: Wanted, count: number): Promise<OrganizationAuditEntry[]> {
  const entries = await store.listEntriesOfOrganization(db, wanted, count)
  return entries.map((entry) => ({ ...entry, at: entry.at.toISOString() }))
}

/** The forms in which the whole trail is saved as a file. */
export const trailFiles = {
  csv: { type: 'text/csv; charset=utf-8; header=present', head: lineOf(columnNames()), line: csvLine },
  jsonl: { type: 'application/jsonl; charset=utf-8', head: '', line: (entry: object) => `${JSON.stringify(entry)}\n` },
} as const

/** The whole trail as the text of a file, read piece by piece while it is sent. */
export async function* writeTrail(
  db: Database,
  wanted: Wanted,
  format: keyof typeof trailFiles,
): AsyncGenerator<string> {
  const { head, line } = trailFiles[format]
  if (head !== '') yield head
  const pages = readPages<OrganizationAuditEntry>(batch, (last, count) =>
    listTrail(db, { ...wanted, before: last?.entryId ?? wanted.before }, count),
  )
  for await (const entries of pages) yield entries.map(line).join('')
}

function columnNames(): (keyof OrganizationAuditEntry)[] {
  return ['entryId', 'at', 'action', 'actor', 'identityId', 'handle', 'clientId', 'details']
}

function csvLine(entry: OrganizationAuditEntry): string {
  return lineOf(columnNames().map((name) => textOf(entry[name])))
}

function textOf(value: OrganizationAuditEntry[keyof OrganizationAuditEntry]): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? '')
}

/** A record of a CSV file (RFC 4180 §2). What a spreadsheet would take for a formula gets an apostrophe before it. */
function lineOf(fields: string[]): string {
  const cells = fields.map((text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text))
  return `${cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(',')}\r\n`
}
