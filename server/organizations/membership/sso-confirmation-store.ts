import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

export type Confirmed = { organizationId: OrganizationId; connectionId: string }

export async function upsertConfirmation(
  tx: Transaction,
  { organizationId, connectionId, identityId }: Confirmed & { identityId: IdentityId },
  now: Date,
): Promise<void> {
  const confirmed = { identity_id: identityId, confirmed_at: now }
  await tx
    .insertInto('organization_sso_confirmation')
    .values({ organization_id: organizationId, connection_id: connectionId, ...confirmed })
    .onConflict((conflict) => conflict.columns(['organization_id', 'connection_id']).doUpdateSet(confirmed))
    .execute()
}

export function findConfirmation(db: Database, { organizationId, connectionId }: Confirmed) {
  return db
    .selectFrom('organization_sso_confirmation')
    .select('confirmed_at as confirmedAt')
    .where('organization_id', '=', organizationId)
    .where('connection_id', '=', connectionId)
    .executeTakeFirst()
}

export async function deleteConfirmation(tx: Transaction, { organizationId, connectionId }: Confirmed): Promise<void> {
  await tx
    .deleteFrom('organization_sso_confirmation')
    .where('organization_id', '=', organizationId)
    .where('connection_id', '=', connectionId)
    .execute()
}
