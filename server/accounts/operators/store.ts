import { type RawBuilder, sql } from 'kysely'
import type { OperatorRole } from '@countersign/protocol/formats/registries/permissions'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed, onOneServer } from '#platform/database/distributed/engine.ts'
import { findKeys } from '#platform/database/distributed/keys.ts'

export type OperatorRow = {
  identityId: IdentityId
  handle: string
  displayName: string
  role: OperatorRole
  grantedAt: Date
  grantedBy: IdentityId | null
}

function selectOperators(db: Database) {
  return db
    .selectFrom('operator')
    .innerJoin('identity', 'identity.identity_id', 'operator.identity_id')
    .select(['operator.identity_id as identityId', 'handle', 'display_name as displayName', 'role'])
    .select(['granted_at as grantedAt', 'granted_by as grantedBy'])
}

/** Lists the operators, the longest-standing first. They are few. */
export function listOperators(db: Database): Promise<OperatorRow[]> {
  return selectOperators(db).orderBy('granted_at').orderBy('operator.identity_id').execute()
}

export function findOperator(db: Database, identityId: IdentityId): Promise<OperatorRow | undefined> {
  return selectOperators(db).where('operator.identity_id', '=', identityId).executeTakeFirst()
}

/** Lists active identities of a user that are operators, two at most: all, or one if it is an operator. */
export function listOperatorsOfUser(db: Database, userId: UserId, identityId: IdentityId | undefined, now: Date) {
  return db
    .selectFrom('identity')
    .innerJoin('operator', 'operator.identity_id', 'identity.identity_id')
    .select(['operator.identity_id as identityId', 'role'])
    .where('identity.user_id', '=', userId)
    .where(isActive(now))
    .$if(identityId !== undefined, (one) => one.where('identity.identity_id', '=', identityId ?? null))
    .limit(2)
    .execute()
}

/** Lists the active identities of a user that are operators, the longest-standing first. */
export function listOwnOperators(db: Database, userId: UserId, now: Date) {
  return db
    .selectFrom('identity')
    .innerJoin('operator', 'operator.identity_id', 'identity.identity_id')
    .select(['operator.identity_id as identityId', 'handle', 'display_name as displayName', 'role'])
    .where('identity.user_id', '=', userId)
    .where(isActive(now))
    .orderBy('granted_at')
    .orderBy('operator.identity_id')
    .execute()
}

/**
 * Locks the role of an operator against changes and suspension until the transaction ends. Returns undefined if they
 * have none or are suspended.
 */
export function holdRole(tx: Transaction, identityId: IdentityId, now: Date) {
  return tx
    .selectFrom('operator')
    .innerJoin('identity', 'identity.identity_id', 'operator.identity_id')
    .select('role')
    .where('operator.identity_id', '=', identityId)
    .where(isActive(now))
    .forShare()
    .executeTakeFirst()
}

/** Lists the roles of the operators among identities that are not suspended. */
export async function listActiveRoles(db: Database, identityIds: IdentityId[], now: Date) {
  if (identityIds.length === 0) return []
  return db
    .selectFrom('operator')
    .innerJoin('identity', 'identity.identity_id', 'operator.identity_id')
    .select(['operator.identity_id as identityId', 'role'])
    .where('operator.identity_id', 'in', identityIds)
    .where(isActive(now))
    .execute()
}

/** Checks whether one of some identities belongs to the account of an identity. */
export async function isInAccountOf(tx: Transaction, own: IdentityId, identityIds: IdentityId[]): Promise<boolean> {
  const users = await findKeys(tx, tx.selectFrom('identity').select('user_id').where('identity_id', '=', own))
  const { rows } = await sql`
    select identity_id from identity
    where identity_id = any(${identityIds}::uuid[]) and user_id = any(${users}) limit 1`.execute(tx)
  return rows.length > 0
}

/** Condition on an identity: it is not suspended. */
function isActive(now: Date): RawBuilder<boolean> {
  return sql`(identity.suspended_at is null or identity.suspended_until <= ${now})`
}

/** Lists the roles of the operators among identities. */
export function listRolesOf(tx: Transaction, identityIds: IdentityId[]) {
  return tx
    .selectFrom('operator')
    .select(['identity_id as identityId', 'role'])
    .where(sql<boolean>`identity_id = any(${identityIds}::uuid[])`)
    .execute()
}

type NewOperator = { identityId: IdentityId; role: OperatorRole; grantedBy: IdentityId | null }

/** Inserts an operator. Returns why it did not, if so. The number cannot grow between the count and the commit. */
export async function insertOperator(
  tx: Transaction,
  { identityId, role, grantedBy }: NewOperator,
  { max, now }: { max: number; now: Date },
): Promise<'inserted' | 'exists' | 'too many'> {
  await sql`lock table operator in share row exclusive mode`.execute(tx)
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from operator`.execute(tx)
  if ((rows[0]?.count ?? 0) >= max) return 'too many'
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('operator')
    .values({ identity_id: identityId, role, granted_at: now, granted_by: grantedBy })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n ? 'inserted' : 'exists'
}

/**
 * Locks the owners, in one order. The next statement then sees every earlier change of an owner, so no two changes each
 * rely on the other owner.
 */
async function lockOwners(tx: Transaction): Promise<void> {
  await sql`select from operator where role = 'owner' order by identity_id for update`.execute(tx)
}

const otherOwners = (identityIds: IdentityId[], now: Date) => sql`
  select identity_id from operator other join identity using (identity_id)
  where other.role = 'owner' and identity_id <> all(${identityIds}::uuid[]) and ${isActive(now)} limit 1`

/** Checks whether an owner remains if these identities can do nothing. No concurrent change makes it wrong. */
export async function leavesOwner(tx: Transaction, identityIds: IdentityId[], now: Date): Promise<boolean> {
  await lockOwners(tx)
  const { rows } = await otherOwners(identityIds, now).execute(tx)
  return rows.length === 1
}

/** The same as a condition. A distributed database does not check it in a statement that changes operators. */
async function keepsOwner(tx: Transaction, identityIds: IdentityId[], now: Date): Promise<RawBuilder<boolean>> {
  if (isDistributed(tx)) return sql`${await leavesOwner(tx, identityIds, now)}`
  await lockOwners(tx)
  return sql`exists (${otherOwners(identityIds, now)} ${onOneServer})`
}

/** Row of an operator to change. `heldRole` is the role that it must still have, if it is that of the caller. */
type Target = { identityId: IdentityId; heldRole: OperatorRole | undefined }

const isTarget = ({ identityId, heldRole }: Target) =>
  sql`identity_id = ${identityId} ${heldRole === undefined ? sql`` : sql`and role = ${heldRole}`}`

/** Changes the role of an operator, unless that leaves no owner. Returns false if it changed nothing. */
export async function updateRole(
  tx: Transaction,
  target: Target,
  { role, grantedBy }: Pick<NewOperator, 'role' | 'grantedBy'>,
  now: Date,
): Promise<boolean> {
  const mayEnd = role === 'owner' ? sql`true` : await keepsOwner(tx, [target.identityId], now)
  const { rows } = await sql`
    update operator set role = ${role}, granted_at = ${now}, granted_by = ${grantedBy}
    where ${isTarget(target)} and (role <> 'owner' or ${mayEnd})
    returning identity_id`.execute(tx)
  return rows.length === 1
}

/** Deletes an operator, unless that leaves no owner. Returns false if it deleted nothing. */
export async function deleteOperator(tx: Transaction, target: Target, now: Date): Promise<boolean> {
  const mayEnd = await keepsOwner(tx, [target.identityId], now)
  const { rows } = await sql`
    delete from operator
    where ${isTarget(target)} and (role <> 'owner' or ${mayEnd})
    returning identity_id`.execute(tx)
  return rows.length === 1
}

/** Deletes the operators among identities. Returns false if that would leave no owner. */
export async function deleteOperatorsOf(tx: Transaction, identityIds: IdentityId[], now: Date): Promise<boolean> {
  if ((await listRolesOf(tx, identityIds)).length === 0) return true
  const mayEnd = sql`(role <> 'owner' or ${await keepsOwner(tx, identityIds, now)})`
  await sql`delete from operator where identity_id = any(${identityIds}::uuid[]) and ${mayEnd}`.execute(tx)
  const { rows } = await sql`
    select from operator where identity_id = any(${identityIds}::uuid[]) limit 1`.execute(tx)
  return rows.length === 0
}

/** Deletes the roles of identities, also of the last owner. Returns what they were. */
export async function deleteRolesOf(tx: Transaction, identityIds: IdentityId[]) {
  if ((await listRolesOf(tx, identityIds)).length === 0) return []
  await lockOwners(tx)
  return tx
    .deleteFrom('operator')
    .where(sql<boolean>`identity_id = any(${identityIds}::uuid[])`)
    .returning(['identity_id as identityId', 'role'])
    .execute()
}

/** The active owners with a verified address. */
const reachableOwners = (now: Date) => sql`operator join identity using (identity_id)
  where role = 'owner' and email_verified and ${isActive(now)}`

/** Lists the verified addresses of the active owners. */
export async function listOwnerAddresses(db: Database, now: Date): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`select email from ${reachableOwners(now)}`.execute(db)
  return rows.map(({ email }) => email)
}

/**
 * Chooses the active owners with a verified address who have not been mailed about ADMIN_TOKEN since then, and notes
 * that they are. Of concurrent calls, one gets each owner.
 */
export async function claimOwnersToMail(db: Database, { since, now }: { since: Date; now: Date }) {
  const owners = await findKeys(db, sql<{ id: IdentityId }>`(select identity_id from ${reachableOwners(now)})`)
  const claimed = await sql<{ identityId: IdentityId }>`
    update operator set break_glass_mailed_at = ${now}
    where identity_id = any(${owners}) and (break_glass_mailed_at is null or break_glass_mailed_at <= ${since})
    returning identity_id as "identityId"`.execute(db)
  if (claimed.rows.length === 0) return []
  const { rows } = await sql<{ email: string }>`
    select email from ${reachableOwners(now)}
      and identity.identity_id = any(${claimed.rows.map(({ identityId }) => identityId)}::uuid[])`.execute(db)
  return rows
}
