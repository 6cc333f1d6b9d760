import { type AdminActivityEntry, AdminIdentityExport } from '@countersign/protocol/operations/people'
import type { IdentityId } from '@countersign/protocol/ids'
import { type Members, objectOf, type Pieces, readIdentityParts, textOf } from '#accounts/account/export.ts'
import { lockAccountOfIdentity } from '#accounts/identities/suspension.ts'
import { missingIdentity } from '#accounts/invitations/invited/invited-identity.ts'
import { requireRightsOver } from '#accounts/operators/operator.ts'
import { auditFieldsOf, type Operator, operatorKeyOf, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { listConnectedApps } from '#oauth/consents/consent.ts'
import { listActivityOfIdentity, recordAuditEvent } from '#platform/audit/audit-log.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Database } from '#platform/database/database.ts'
import type { ExportParts } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { toAdminIdentity } from './directory.ts'
import * as store from './store.ts'

const errors = defineErrors({
  identity_not_found: [404, 'No identity has this ID.'],
})

const entriesOfPage = 500

type Services = { kernel: ServerContext; exportParts: readonly ExportParts[] }

/**
 * Exports the data of an identity, and records that in the audit log and the activity of its user. Returns the text of
 * an `AdminIdentityExport` in pieces. Throws `identity_not_found`, `identity_invited`, `operator_protected`,
 * `rate_limited`.
 */
export async function exportIdentity(
  { kernel, exportParts }: Services,
  operator: Operator,
  identityId: IdentityId,
  now: Date,
): Promise<Pieces> {
  const { db, rateLimits } = kernel
  await rateLimits.count('identity-exports-per-operator', operatorKeyOf(operator))
  await operatorTransaction(db, operator, async (tx) => {
    const account = await lockAccountOfIdentity(tx, identityId)
    if (!account) throw await missingIdentity(tx, identityId)
    const { userId, identityIds } = account
    await requireRightsOver(tx, operator, { accountIdentityIds: identityIds, affectedIds: [identityId] })
    await recordAuditEvent(tx, { action: 'identity.exported', ...auditFieldsOf(operator), userId, identityId }, now)
  })
  const found = await store.findIdentity(db, identityId, now)
  if (!found) throw errors.identity_not_found()
  const entry = toAdminIdentity({ ...found, createdAt: found.createdAt.toISOString() })
  const fields = Object.keys(AdminIdentityExport.properties)
  const members: Members = new Map<string, unknown>([
    ['exportedAt', now.toISOString()],
    ...Object.entries(entry),
    ...(await readIdentityParts(db, exportParts, { identityId, fields }, now)),
    ['apps', await listConnectedApps(db, identityId)],
    ['activity', textOf(readActivity(db, identityId))],
  ])
  return objectOf(fields, members)
}

async function* readActivity(db: Database, identityId: IdentityId): AsyncGenerator<AdminActivityEntry[]> {
  let before: string | undefined
  do {
    const page = { before, count: entriesOfPage }
    const entries: AdminActivityEntry[] = await listActivityOfIdentity(db, identityId, page)
    yield entries
    before = entries.length === entriesOfPage ? entries.at(-1)?.entryId : undefined
  } while (before !== undefined)
}
