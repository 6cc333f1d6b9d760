import { sql } from 'kysely'
import type { ClientId, IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'
import { plannedForValues } from '#platform/database/statement-names.ts'
import { changeInParts } from '#platform/module/batches.ts'

/**
 * Purpose of an identity's signature: the requesting app, and the role, for the identity itself or for an organization.
 */
export type SignatureUse = { identityId: IdentityId; clientId: ClientId } & (
  | { role: 'self' }
  | { role: 'sign' | 'approve'; organizationId: OrganizationId }
)

/** Records the use of a signature; returns false if a different use of it is recorded. */
export async function insertUse(tx: Transaction, signatureSha256: Uint8Array, use: SignatureUse): Promise<boolean> {
  const { identityId, clientId, role } = use
  const organizationId = role === 'self' ? null : use.organizationId
  const { rows } = await sql<{ identity_id: IdentityId }>`
    insert into signing_signature_use (identity_id, signature_sha256, client_id, organization_id, role)
    values (${identityId}, ${signatureSha256}, ${clientId}, ${organizationId}, ${role})
    on conflict (identity_id, signature_sha256) do update set role = excluded.role
    where signing_signature_use.client_id = excluded.client_id and signing_signature_use.role = excluded.role
      and signing_signature_use.organization_id is not distinct from excluded.organization_id
    returning identity_id`.execute(tx)
  return rows.length === 1
}

/** Deletes the uses of all signatures of identities, in statements of limited size. */
export async function deleteUses(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  for (const identityId of identityIds)
    await changeInParts<Uint8Array>(
      async (count, after = new Uint8Array()) => {
        const { rows } = await sql<{ digest: Uint8Array }>`
          select signature_sha256 as digest from signing_signature_use
          where identity_id = ${identityId} and signature_sha256 > ${after}
          order by signature_sha256 limit ${count}`.execute(tx)
        return rows.map(({ digest }) => digest)
      },
      (digests) =>
        sql`${plannedForValues} delete from signing_signature_use
          where identity_id = ${identityId} and signature_sha256 = any(${digests}::bytea[])`.execute(tx),
    )
}
