import type { OrganizationId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

export type KmsRow = NonNullable<Awaited<ReturnType<typeof findKms>>>

export function findKms(db: Database, organizationId: OrganizationId) {
  return db
    .selectFrom('organization_kms')
    .select(['url', 'checked_at as checkedAt'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

export async function findKmsUrl(db: Database, organizationId: OrganizationId): Promise<string | undefined> {
  return (await findKms(db, organizationId))?.url
}

export async function upsertKms(
  tx: Transaction,
  { organizationId, url }: { organizationId: OrganizationId; url: string },
  now: Date,
): Promise<void> {
  await tx
    .insertInto('organization_kms')
    .values({ organization_id: organizationId, url, checked_at: now })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet({ url, checked_at: now }))
    .execute()
}

/** Deletes the KMS of an organization. Returns false if there is none. */
export async function deleteKms(tx: Transaction, organizationId: OrganizationId): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('organization_kms')
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Lists the keys of an organization that a KMS has sealed. */
export async function listKeysOfKms(db: Database, organizationId: OrganizationId) {
  const rows = await db
    .selectFrom('organization_key')
    .select(['organization_id as organizationId', 'key_id as keyId', 'sealed_key as sealedKey', 'fingerprint'])
    .where('organization_id', '=', organizationId)
    .where('custody', '=', 'customer_kms')
    .orderBy('version')
    .execute()
  return rows.flatMap(({ sealedKey, ...row }) => (sealedKey === null ? [] : [{ ...row, sealedKey }]))
}
