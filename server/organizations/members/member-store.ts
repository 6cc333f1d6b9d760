import { scopesOfRole } from '@countersign/protocol/formats/role'
import type { OrganizationRole, OrganizationScope } from '@countersign/protocol/formats/role'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

export type MemberRow = NonNullable<Awaited<ReturnType<typeof findMember>>>

function members(db: Database, organizationId: OrganizationId) {
  return db
    .selectFrom('organization_member')
    .innerJoin('identity', 'identity.identity_id', 'organization_member.identity_id')
    .select([
      'member_id as memberId',
      'organization_member.identity_id as identityId',
      'handle',
      'display_name as displayName',
      'role',
      'signing_authority as signingAuthority',
      'named_by_directory as namedByDirectory',
      'joined_at as joinedAt',
      'avatar_url as avatarUrl',
    ])
    .select(shownEmail.as('shownEmail'))
    .select(({ ref }) => ref('scopes').$castTo<OrganizationScope[]>().as('scopes'))
    .where('organization_id', '=', organizationId)
}

/**
 * The address that the organization may know: the one to which it invited the member, or else a verified one in a
 * domain of its own. Any other address of an identity is not shared without consent.
 */
const shownEmail = sql<string | null>`coalesce(invited_email, case when email_verified and exists (
  select from organization_verified_domain claimed
  where claimed.domain = lower(split_part(identity.email, '@', 2))
    and claimed.organization_id = organization_member.organization_id
) then identity.email end)`

/** `q`: a part of a display name or handle, or of an address if `searchesEmails`. */
export type MemberFilter = { q?: string | undefined; role?: OrganizationRole | undefined; searchesEmails: boolean }

function matching({ q, role, searchesEmails }: MemberFilter) {
  const named = (text: string) => {
    const pattern = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
    const inEmail = searchesEmails ? sql`or ${shownEmail} ilike ${pattern}` : sql``
    return sql<boolean>`(display_name ilike ${pattern} or '@' || handle ilike ${pattern} ${inEmail})`
  }
  const ofRole = role === undefined ? sql<boolean>`true` : sql<boolean>`role = ${role}`
  return q === undefined ? ofRole : sql<boolean>`${ofRole} and ${named(q)}`
}

/** Counts the members of an organization that match. */
export async function countMembers(db: Database, organizationId: OrganizationId, filter: MemberFilter) {
  const { count } = await db
    .selectFrom('organization_member')
    .innerJoin('identity', 'identity.identity_id', 'organization_member.identity_id')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('organization_id', '=', organizationId)
    .where(matching(filter))
    .executeTakeFirstOrThrow()
  return Number(count)
}

type Some = { after?: string | undefined; count?: number | undefined; filter?: MemberFilter }

/** Lists the members of an organization, or some of them, in the order in which they joined (by id). */
export function listMembers(db: Database, organizationId: OrganizationId, { after, count, filter }: Some = {}) {
  return members(db, organizationId)
    .$if(filter !== undefined, (some) => some.where(matching(filter ?? { searchesEmails: false })))
    .$if(after !== undefined, (later) => later.where('member_id', '>', after ?? ''))
    .orderBy('member_id')
    .$if(count !== undefined, (few) => few.limit(count ?? 0))
    .execute()
}

/** Lists which of these identities are members, by id only, because an identity can be in deletion. */
export function listRoles(db: Database, organizationId: OrganizationId, identityIds: IdentityId[]) {
  return db
    .selectFrom('organization_member')
    .select(['member_id as memberId', 'identity_id as identityId', 'role'])
    .where('organization_id', '=', organizationId)
    .where('identity_id', 'in', identityIds)
    .orderBy('joined_at')
    .orderBy('member_id')
    .execute()
}

/**
 * Lists the addresses of members that the organization may know: those to which it invited them, and verified ones in
 * its own domains.
 */
export async function listKnownEmails(
  tx: Transaction,
  organizationId: OrganizationId,
  identityIds: IdentityId[],
): Promise<string[]> {
  const invited = tx
    .selectFrom('organization_member')
    .select('invited_email as email')
    .where('organization_id', '=', organizationId)
    .where('identity_id', 'in', identityIds)
    .where('invited_email', 'is not', null)
  const ofDomains = tx
    .selectFrom('identity')
    .select('email')
    .where(sql<boolean>`identity_id = any(${identityIds}::uuid[])`)
    .where('email_verified', '=', true)
    .where(
      sql<boolean>`exists (
        select from organization_verified_domain claimed
        where claimed.domain = lower(split_part(identity.email, '@', 2)) and claimed.organization_id = ${organizationId}
      )`,
    )
  const found = await Promise.all([invited.execute(), ofDomains.execute()])
  return found.flat().flatMap(({ email }) => email ?? [])
}

/** Checks if the organization has any other member. */
export async function hasOtherMembers(
  db: Database,
  organizationId: OrganizationId,
  identityIds: IdentityId[],
): Promise<boolean> {
  const other = await db
    .selectFrom('organization_member')
    .select('member_id')
    .where('organization_id', '=', organizationId)
    .where('identity_id', 'not in', identityIds)
    .limit(1)
    .executeTakeFirst()
  return other !== undefined
}

export function findMember(db: Database, organizationId: OrganizationId, memberId: string) {
  return members(db, organizationId).where('member_id', '=', memberId).executeTakeFirst()
}

/** Updates a member. `namedByDirectory` is set if only a directory has granted the permissions. */
type MemberPermissions = {
  role: OrganizationRole
  scopes: string[]
  signingAuthority: boolean
  namedByDirectory: boolean
}
type NewMember = MemberPermissions & {
  organizationId: OrganizationId
  memberId: string
  identityId: IdentityId
  invitedEmail?: string | null
}

/** Inserts a member. Returns false if the identity is already a member. */
export async function insertMember(tx: Transaction, joining: NewMember, now: Date): Promise<boolean> {
  const inserted = await tx
    .insertInto('organization_member')
    .values({
      organization_id: joining.organizationId,
      member_id: joining.memberId,
      identity_id: joining.identityId,
      role: joining.role,
      scopes: joining.scopes,
      signing_authority: joining.signingAuthority,
      named_by_directory: joining.namedByDirectory,
      invited_email: joining.invitedEmail ?? null,
      joined_at: now,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'identity_id']).doNothing())
    .returning('member_id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Lists the memberships of these identities in an organization. */
export function listOwn(db: Database, organizationId: OrganizationId, identityIds: IdentityId[]) {
  return db
    .selectFrom('organization_member')
    .select(['member_id as memberId', 'identity_id as identityId', 'signing_authority as signingAuthority'])
    .where('organization_id', '=', organizationId)
    .where('identity_id', 'in', identityIds)
    .orderBy('member_id')
    .execute()
}

export async function endSigningAuthority(
  tx: Transaction,
  organizationId: OrganizationId,
  memberId: string,
): Promise<void> {
  await tx
    .updateTable('organization_member')
    .set({ signing_authority: false })
    .where('organization_id', '=', organizationId)
    .where('member_id', '=', memberId)
    .execute()
}

export async function updateMember(
  tx: Transaction,
  { organizationId, memberId, ...rights }: MemberPermissions & { organizationId: OrganizationId; memberId: string },
): Promise<void> {
  const { role, scopes, signingAuthority, namedByDirectory } = rights
  await tx
    .updateTable('organization_member')
    .set({ role, scopes, signing_authority: signingAuthority, named_by_directory: namedByDirectory })
    .where('organization_id', '=', organizationId)
    .where('member_id', '=', memberId)
    .execute()
}

export async function deleteMembers(
  tx: Transaction,
  organizationId: OrganizationId,
  identityIds: IdentityId[],
): Promise<void> {
  await tx
    .deleteFrom('organization_member')
    .where('organization_id', '=', organizationId)
    .where('identity_id', 'in', identityIds)
    .execute()
}

/** Increases the owner count by one. */
export async function incrementOwnerCount(tx: Transaction, organizationId: OrganizationId): Promise<void> {
  await tx
    .updateTable('organization')
    .set((eb) => ({ owner_count: eb('owner_count', '+', 1) }))
    .where('organization_id', '=', organizationId)
    .execute()
}

/** Decreases the owner count. Returns false if no owner would remain. */
export async function decrementOwnerCount(
  tx: Transaction,
  organizationId: OrganizationId,
  count: number,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set((eb) => ({ owner_count: eb('owner_count', '-', count) }))
    .where('organization_id', '=', organizationId)
    .where('owner_count', '>', count)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Decreases the owner count, even to zero. Returns false if the organization is not suspended. */
export async function uncountOwnersOfSuspended(tx: Transaction, organizationId: OrganizationId, count: number) {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set((eb) => ({ owner_count: eb('owner_count', '-', count) }))
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'suspended')
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Finds the admin who joined first among those who have all scopes of the role, not only from a directory. */
export function findFirstAdmin(tx: Transaction, organizationId: OrganizationId) {
  return members(tx, organizationId)
    .where('role', '=', 'admin')
    .where('named_by_directory', '=', false)
    .where(sql<boolean>`scopes @> ${[...scopesOfRole.admin]}::text[]`)
    .orderBy('member_id')
    .limit(1)
    .executeTakeFirst()
}

/** Lists the addresses to which the invitations of these members were sent. */
export function listInvitedEmails(db: Database, identityIds: IdentityId[]) {
  return db
    .selectFrom('organization_member')
    .select(['organization_id as organizationId', 'member_id as memberId', 'invited_email as invitedEmail'])
    .where('identity_id', 'in', identityIds)
    .where('invited_email', 'is not', null)
    .execute()
}
