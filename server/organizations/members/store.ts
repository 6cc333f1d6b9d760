import type { OrganizationChange } from '@countersign/protocol/organizations/organizations'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { lockUnlocked } from '#platform/database/distributed/engine.ts'
import { releaseDomains } from '#organizations/domains/domain.ts'

export async function countMemberships(db: Database, identityId: IdentityId): Promise<number> {
  const { count } = await db
    .selectFrom('organization_member')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('identity_id', '=', identityId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

type NewOrganization = { organizationId: OrganizationId; name: string; slug: string }

/** Inserts an organization. The caller inserts its first owner next. */
export async function insertOrganization(tx: Transaction, { organizationId, name, slug }: NewOrganization, now: Date) {
  await tx
    .insertInto('organization')
    .values({ organization_id: organizationId, name, slug, owner_count: 1, created_at: now, updated_at: now })
    .execute()
}

/** What a change stores. Of the logo it is the URL: the digest is of the picture, which is checked before. */
type StoredChange = Omit<OrganizationChange, 'logoSha256'>

/** Columns of what can change; those that are undefined stay. The compiler reports a field that has no column here. */
function columnsOf(change: StoredChange) {
  const { name, slug, logoUrl, ssoRequired, requireSignedActions, encryptionMode, approvalsNeeded, ...others } = change
  others satisfies Record<string, never>
  return {
    name,
    slug,
    logo_url: logoUrl,
    sso_required: ssoRequired,
    require_signed_actions: requireSignedActions,
    encryption_mode: encryptionMode,
    approvals_needed: approvalsNeeded,
  }
}

export async function updateOrganization(
  tx: Transaction,
  organizationId: OrganizationId,
  change: StoredChange,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('organization')
    .set({ ...columnsOf(change), updated_at: now })
    .where('organization_id', '=', organizationId)
    .execute()
}

/**
 * Deletes an organization with its members, invitations and domains. Members go first: each statement has a time limit,
 * and the SSO connections, with links of all members, take long too.
 */
export async function deleteOrganization(tx: Transaction, organizationId: OrganizationId): Promise<void> {
  await tx.deleteFrom('organization_member').where('organization_id', '=', organizationId).execute()
  await tx.deleteFrom('organization').where('organization_id', '=', organizationId).execute()
  // The organization comes after its domain claims: `domain.ts` locks both in the same order.
  await releaseDomains(tx, organizationId)
}

/** Sets the required connection. Returns false if the connection is undefined and SSO is required. */
export async function updateSsoConnection(
  tx: Transaction,
  organizationId: OrganizationId,
  connectionId: string | null,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set({ sso_connection_id: connectionId })
    .where('organization_id', '=', organizationId)
    .$if(connectionId === null, (some) => some.where('sso_required', '=', false))
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Returns the ID that the next SSO connection of an organization will have. */
export async function readNextSsoConnectionId(db: Database, organizationId: OrganizationId): Promise<string> {
  const { next_sso_connection_id: connectionId } = await db
    .selectFrom('organization')
    .select('next_sso_connection_id')
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return connectionId
}

export async function updateNextSsoConnectionId(
  tx: Transaction,
  organizationId: OrganizationId,
  connectionId: string,
): Promise<void> {
  await tx
    .updateTable('organization')
    .set({ next_sso_connection_id: connectionId })
    .where('organization_id', '=', organizationId)
    .execute()
}

/** Lists the organizations of any of these identities, in the order in which they must be locked. */
export async function listOrganizationsOf(db: Database, identityIds: IdentityId[]): Promise<OrganizationId[]> {
  const rows = await db
    .selectFrom('organization_member')
    .select('organization_id as organizationId')
    .distinct()
    .where('identity_id', 'in', identityIds)
    .orderBy('organization_id')
    .execute()
  return rows.map(({ organizationId }) => organizationId)
}

type Listing = {
  organizationId?: OrganizationId
  slugs?: string[]
  before?: OrganizationId | undefined
  count: number
}

/** Lists organizations, newest first: all, those older than `before`, one, or those that have certain slugs. */
export function listOrganizations(db: Database, { organizationId, slugs, before, count }: Listing) {
  const all = db
    .selectFrom('organization')
    .select([
      'organization.organization_id as organizationId',
      'name',
      'slug',
      'status',
      'owner_count as owners',
      'sso_required as ssoRequired',
      'created_at as createdAt',
    ])
    .select(({ selectFrom }) =>
      selectFrom('organization_member')
        .select(({ fn }) => fn.countAll<string>().as('count'))
        .whereRef('organization_member.organization_id', '=', 'organization.organization_id')
        .$asScalar()
        .$notNull()
        .as('members'),
    )
    .orderBy('organization_id', 'desc')
    .limit(count)
  const one = organizationId === undefined ? all : all.where('organization_id', '=', organizationId)
  const named =
    slugs === undefined
      ? one
      : one.where('organization_id', 'in', ({ selectFrom }) =>
          selectFrom('organization_slug')
            .select('organization_slug.organization_id')
            .where('organization_slug.slug', 'in', slugs)
            .where('available_at', 'is', null),
        )
  const older = before === undefined ? named : named.where('organization_id', '<', before)
  return older.execute()
}

export async function updateStatus(
  tx: Transaction,
  { organizationId, status }: { organizationId: OrganizationId; status: 'active' | 'suspended' },
  now: Date,
): Promise<void> {
  await tx
    .updateTable('organization')
    .set({ status, updated_at: now })
    .where('organization_id', '=', organizationId)
    .execute()
}

export type OrganizationEnding = { organizationId: OrganizationId; endedAt: Date }

/** Notes that tokens or sessions are left for an organization that has ended. */
export async function insertEnding(tx: Transaction, { organizationId, endedAt }: OrganizationEnding): Promise<void> {
  await tx
    .insertInto('organization_ending')
    .values({ organization_id: organizationId, ended_at: endedAt })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Finds an ending that no other process is working on. */
export async function findEnding(tx: Transaction): Promise<OrganizationId | undefined> {
  const { rows } = await sql<{ organizationId: OrganizationId }>`
    select organization_id as "organizationId" from organization_ending
    limit ${sql.lit(1)} ${lockUnlocked(tx)}`.execute(tx)
  return rows[0]?.organizationId
}

/** Locks an ending. Returns undefined if nothing is left. */
export function lockEnding(tx: Transaction, organizationId: OrganizationId): Promise<OrganizationEnding | undefined> {
  return tx
    .updateTable('organization_ending')
    .set(({ ref }) => ({ ended_at: ref('ended_at') }))
    .where('organization_id', '=', organizationId)
    .returning(['organization_id as organizationId', 'ended_at as endedAt'])
    .executeTakeFirst()
}

export async function deleteEnding(tx: Transaction, organizationId: OrganizationId): Promise<void> {
  await tx.deleteFrom('organization_ending').where('organization_id', '=', organizationId).execute()
}

export async function isEnding(tx: Transaction, organizationId: OrganizationId): Promise<boolean> {
  const ending = tx.selectFrom('organization_ending').select('ended_at').where('organization_id', '=', organizationId)
  return (await ending.executeTakeFirst()) !== undefined
}
