import { sql, type RawBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

/** The organizations for which an app has anything of an identity that is live. */
export async function listOrganizationsOfClient(
  db: Database,
  { identityId, clientId }: { identityId: string; clientId: string },
  now: Date,
): Promise<string[]> {
  const rows = await db
    .selectFrom('token_lineage')
    .select('organization_id as organizationId')
    .distinct()
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .where('revoked_at', 'is', null)
    .where('ends_at', '>', now)
    .execute()
  return rows.flatMap(({ organizationId }) => organizationId ?? [])
}

/** The scopes of all that an app has of an identity for these organizations that is live, each once. */
export function listScopesOfClient(
  db: Database,
  { identityId, clientId, organizationIds }: { identityId: string; clientId: string; organizationIds: string[] },
  now: Date,
): Promise<{ scope: string[]; createdAt: Date }[]> {
  // By the identity, and then by the organizations, of which others have as much as they like.
  return db
    .with(
      (name) => name('held').materialized(),
      (own) =>
        own
          .selectFrom('token_lineage')
          .select(['scope', 'organization_id', 'created_at'])
          .where('identity_id', '=', identityId)
          .where('client_id', '=', clientId)
          .where('revoked_at', 'is', null)
          .where('ends_at', '>', now),
    )
    .selectFrom('held')
    .select(['scope', 'created_at as createdAt'])
    .where('organization_id', 'in', organizationIds)
    .orderBy('created_at')
    .execute()
}

/** What all members of an organization have for it, or these identities of one person. */
type OfOrganization = { organizationId: string; identityIds?: string[] | undefined }

export async function revokeOfOrganization(
  tx: Transaction,
  { organizationId, identityIds }: OfOrganization,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('token_lineage')
    .set({ revoked_at: now })
    .where(ofOrganization({ organizationId, identityIds }))
    .where('revoked_at', 'is', null)
    .execute()
}

/**
 * The condition, in columns of `token_lineage`. No index is used for `is not distinct from`, so that lineages of
 * identities are found by these: in a large organization they are few among many.
 */
export function ofOrganization({ organizationId, identityIds }: OfOrganization): RawBuilder<boolean> {
  return identityIds === undefined
    ? sql`organization_id = ${organizationId}`
    : sql`identity_id = any(${identityIds}::uuid[]) and organization_id is not distinct from ${organizationId}`
}

/** Whether an app has anything for an organization that is live. */
export async function findAnyOfOrganization(
  db: Database,
  { organizationId, clientId }: { organizationId: string; clientId: string },
  now: Date,
): Promise<boolean> {
  const found = await db
    .selectFrom('token_lineage')
    .select('lineage_id')
    .where('organization_id', '=', organizationId)
    .where('client_id', '=', clientId)
    .where('revoked_at', 'is', null)
    .where('ends_at', '>', now)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
