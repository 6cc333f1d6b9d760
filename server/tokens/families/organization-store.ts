import { sql, type RawBuilder } from 'kysely'
import type { ClientId, IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { type FamilyKey, revokeWhere } from './store.ts'

/** Lists the organizations for which an app has live codes or tokens of an identity. */
export async function listOrganizationsOfClient(
  db: Database,
  { identityId, clientId }: { identityId: IdentityId; clientId: ClientId },
  now: Date,
): Promise<OrganizationId[]> {
  const rows = await db
    .selectFrom('token_family')
    .select('organization_id as organizationId')
    .distinct()
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .execute()
  return rows.flatMap(({ organizationId }) => organizationId ?? [])
}

/**
 * Lists the distinct scopes of an app's live codes and tokens of an identity for these organizations, and when the
 * first and the last of each were created: the earliest first.
 */
export function listScopesOfClient(
  db: Database,
  {
    identityId,
    clientId,
    organizationIds,
  }: { identityId: IdentityId; clientId: ClientId; organizationIds: OrganizationId[] },
  now: Date,
): Promise<{ scope: string[]; firstAt: Date; lastAt: Date }[]> {
  // Select by identity first: other users control how many rows an organization has.
  return db
    .with(
      (name) => name('held').materialized(),
      (own) =>
        own
          .selectFrom('token_family')
          .select(['scope', 'organization_id', 'created_at'])
          .where('identity_id', '=', identityId)
          .where('client_id', '=', clientId)
          .where('revoked_at', 'is', null)
          .where('expires_at', '>', now),
    )
    .selectFrom('held')
    .select(({ fn }) => ['scope', fn.min('created_at').as('firstAt'), fn.max('created_at').as('lastAt')])
    .where('organization_id', 'in', organizationIds)
    .groupBy('scope')
    .orderBy('firstAt')
    .execute()
}

/** Selects the token families for an organization of these identities, which belong to a limited number of users. */
type OfOrganization = { organizationId: OrganizationId; identityIds: IdentityId[] }

export async function revokeOfOrganization(tx: Transaction, of: OfOrganization, now: Date): Promise<void> {
  await revokeWhere(tx, ofOrganization(of), now)
}

/** Lists up to `limit` token families for an organization that are not revoked, of any member. */
export async function listUnrevoked(
  tx: Transaction,
  { organizationId, limit }: { organizationId: OrganizationId; limit: number },
): Promise<FamilyKey[]> {
  const { rows } = await sql<FamilyKey>`
    select identity_id as "identityId", family_id as "familyId" from token_family
    where organization_id = ${organizationId} and num_nonnulls(revoked_at) = 0 limit ${limit}`.execute(tx)
  return rows
}

/**
 * Builds the condition on columns of `token_family`. PostgreSQL uses no index for `is not distinct from`, so families
 * of given identities are found by identity. In a large organization, these are few rows among many.
 */
export function ofOrganization({ organizationId, identityIds }: OfOrganization): RawBuilder<boolean> {
  return sql`identity_id = any(${identityIds}::uuid[]) and organization_id is not distinct from ${organizationId}`
}

/** Checks whether an app has a live code or token for an organization. */
export async function hasTokensOfOrganization(
  db: Database,
  { organizationId, clientId }: { organizationId: OrganizationId; clientId: ClientId },
  now: Date,
): Promise<boolean> {
  const found = await db
    .selectFrom('token_family')
    .select('family_id')
    .where('organization_id', '=', organizationId)
    .where('client_id', '=', clientId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
