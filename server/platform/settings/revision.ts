import { writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import type { SettingKey, SettingRevision, SomeSettings } from '@countersign/protocol/operations/settings'
import type { AuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { parseStored } from './setting.ts'
import * as store from './store.ts'

/** Revisions that are kept. */
export const revisionsMax = 1000

/** Settings of a new revision, which of them it changes, and the operator who changes them. */
export type NewRevision = Pick<AuditEvent, 'operator'> & {
  stored: SomeSettings
  changed: SettingKey[]
  restoredFrom: number | undefined
}

/** Stores the settings after a revision, if that one still applies. Returns false otherwise. */
export async function storeRevision(
  tx: Transaction,
  replaced: number,
  { stored, changed, restoredFrom, operator }: NewRevision,
  now: Date,
): Promise<boolean> {
  if (operator?.kind === 'scim') throw new Error('a SCIM token changes no setting')
  const isStored = await store.insertRevision(tx, replaced, {
    created_at: now,
    stored: writeCanonicalJson(stored),
    changed_keys: changed,
    restored_from: restoredFrom ?? null,
    operator_kind: operator?.kind ?? 'break_glass',
    operator_id: operator && 'id' in operator ? operator.id : null,
    operator_name: operator && 'name' in operator ? operator.name : null,
  })
  if (isStored) await store.deleteRevisions(tx, replaced + 1 - revisionsMax)
  return isStored
}

/** Lists the IDs of the logos that can come back with a revision. */
export function listNamedLogos(tx: Transaction): Promise<string[]> {
  return store.listNamedLogos(tx)
}

/** Lists the newest revisions, of all or of those before one. */
export async function listRevisions(
  db: Database,
  before: number | undefined,
  count: number,
): Promise<SettingRevision[]> {
  const rows = await store.listRevisions(db, before, count)
  return rows.map(({ at, stored, operatorKind: kind, operatorId: id, operatorName: name, ...row }) => ({
    ...row,
    at: at.toISOString(),
    values: Object.fromEntries(Object.entries(parseStored(stored))),
    operator: { kind, id, name },
  }))
}
