import { scopesOfRole } from '@countersign/protocol/formats/role'
import type { OrganizationRole, OrganizationScope } from '@countersign/protocol/formats/role'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

export type MemberRow = NonNullable<Awaited<ReturnType<typeof findMember>>>

function members(db: Database, organizationId: string) {
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
    ])
    .select(({ ref }) => ref('scopes').$castTo<OrganizationScope[]>().as('scopes'))
    .where('organization_id', '=', organizationId)
}

type Some = { after?: string | undefined; count?: number }

/** The members of an organization, or some of them: the one who joined first, whose id is the lowest, before others. */
export function listMembers(db: Database, organizationId: string, { after, count }: Some = {}) {
  return members(db, organizationId)
    .$if(after !== undefined, (later) => later.where('member_id', '>', after ?? ''))
    .orderBy('member_id')
    .$if(count !== undefined, (few) => few.limit(count ?? 0))
    .execute()
}

/** Those of these identities that are members, by their ids alone: they may just be going. */
export function listRoles(db: Database, organizationId: string, identityIds: string[]) {
  return db
    .selectFrom('organization_member')
    .select(['member_id as memberId', 'identity_id as identityId', 'role'])
    .where('organization_id', '=', organizationId)
    .where('identity_id', 'in', identityIds)
    .orderBy('joined_at')
    .orderBy('member_id')
    .execute()
}

/** Whether anybody else is a member. */
export async function hasOtherMembers(db: Database, organizationId: string, identityIds: string[]): Promise<boolean> {
  const other = await db
    .selectFrom('organization_member')
    .select('member_id')
    .where('organization_id', '=', organizationId)
    .where('identity_id', 'not in', identityIds)
    .limit(1)
    .executeTakeFirst()
  return other !== undefined
}

export function findMember(db: Database, organizationId: string, memberId: string) {
  return members(db, organizationId).where('member_id', '=', memberId).executeTakeFirst()
}

/** `namedByDirectory` where the rights go back to a directory alone. */
type Rights = { role: OrganizationRole; scopes: string[]; signingAuthority: boolean; namedByDirectory: boolean }
type NewMember = Rights & { organizationId: string; memberId: string; identityId: string }

/** Adds a member; false where the identity is one already. */
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
      joined_at: now,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'identity_id']).doNothing())
    .returning('member_id')
    .executeTakeFirst()
  return inserted !== undefined
}

export async function updateMember(
  tx: Transaction,
  { organizationId, memberId, ...rights }: Rights & { organizationId: string; memberId: string },
): Promise<void> {
  const { role, scopes, signingAuthority, namedByDirectory } = rights
  await tx
    .updateTable('organization_member')
    .set({ role, scopes, signing_authority: signingAuthority, named_by_directory: namedByDirectory })
    .where('organization_id', '=', organizationId)
    .where('member_id', '=', memberId)
    .execute()
}

export async function deleteMembers(tx: Transaction, organizationId: string, identityIds: string[]): Promise<void> {
  await tx
    .deleteFrom('organization_member')
    .where('organization_id', '=', organizationId)
    .where('identity_id', 'in', identityIds)
    .execute()
}

/** Counts one more owner. */
export async function countOwner(tx: Transaction, organizationId: string): Promise<void> {
  await tx
    .updateTable('organization')
    .set((eb) => ({ owner_count: eb('owner_count', '+', 1) }))
    .where('organization_id', '=', organizationId)
    .execute()
}

/** Counts so many owners less; false where none would be left. */
export async function uncountOwners(tx: Transaction, organizationId: string, count: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set((eb) => ({ owner_count: eb('owner_count', '-', count) }))
    .where('organization_id', '=', organizationId)
    .where('owner_count', '>', count)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Counts so many owners less, also where none is left; false where the organization is not suspended. */
export async function uncountOwnersOfSuspended(tx: Transaction, organizationId: string, count: number) {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set((eb) => ({ owner_count: eb('owner_count', '-', count) }))
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'suspended')
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** The admin who joined first of those who have all scopes of the role, and not from a directory alone. */
export function findFirstAdmin(tx: Transaction, organizationId: string) {
  return members(tx, organizationId)
    .where('role', '=', 'admin')
    .where('named_by_directory', '=', false)
    .where(sql<boolean>`scopes @> ${[...scopesOfRole.admin]}::text[]`)
    .orderBy('member_id')
    .limit(1)
    .executeTakeFirst()
}
