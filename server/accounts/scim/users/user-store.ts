import { type RawBuilder, sql } from 'kysely'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import { emailKeysOf, type ScimEmail, type ScimUser, type StoredUser } from './user.ts'

/** Whether the user of a row is active. As the statements of this file name the tables. */
export const isActive = sql<boolean>`coalesce(identity.is_active, u.active)`

const sent = sql`
    u.identity_id as "identityId", u.user_name as "userName", u.external_id as "externalId",
    u.display_name as "displayName", u.formatted_name as "formattedName", u.given_name as "givenName",
    u.family_name as "familyName", u.emails, u.active, u.created_at as "createdAt", u.updated_at as "updatedAt"`
const fields = sql`${sent}, ${isActive} as "isActive"`

type Key = { tokenId: string; identityId: IdentityId }

/**
 * Users of a token, all or one, with the identities that they have: whether these are neither suspended nor to be
 * deleted. Without `offset 0`, the database may read all suspensions once, rather than those of each user.
 */
function users(db: Database, { tokenId, identityId }: Partial<Key> & Pick<Key, 'tokenId'>, now: Date) {
  const identity = sql`
    select identity.identity_id, not (
      exists (
        select from account_suspension own
        where own.user_id = identity.user_id and own.identity_id = identity.identity_id
          and (own.suspended_until is null or own.suspended_until > ${now})
        offset 0
      ) or exists (
        select from identity_deletion own
        where own.user_id = identity.user_id and own.identity_id = identity.identity_id
        offset 0
      )
    ) as is_active from identity`
  const isOne = identityId === undefined ? sql`` : sql`and identity_id = ${identityId}`
  const ofToken = sql`${identity} join scim_user using (identity_id) where token_id = ${tokenId} ${isOne}`
  // A distributed database looks up nothing for rows that every node has.
  const joined = isDistributed(db)
    ? sql`left join (${ofToken} offset 0) identity on identity.identity_id = u.identity_id`
    : sql`left join lateral (${identity} where identity.identity_id = u.identity_id offset 0) identity on true`
  return sql`(select * from scim_user where token_id = ${tokenId} ${isOne}) u ${joined}`
}

export async function findUser(db: Database, { tokenId, identityId }: Key, now: Date): Promise<StoredUser | undefined> {
  const found = await sql<StoredUser>`
    select ${fields} from ${users(db, { tokenId, identityId }, now)}`.execute(db)
  return found.rows[0]
}

/** Finds what a directory has sent about an identity. */
export async function findSent(
  db: Database,
  identityId: IdentityId,
): Promise<Omit<StoredUser, 'isActive'> | undefined> {
  const found = await sql<Omit<StoredUser, 'isActive'>>`
    select ${sent} from scim_user u where u.identity_id = ${identityId}`.execute(db)
  return found.rows[0]
}

/** Locks a user until the transaction ends. The caller has locked its identity. */
export async function lockUser(tx: Transaction, { tokenId, identityId }: Key): Promise<boolean> {
  const found = await tx
    .selectFrom('scim_user')
    .select('identity_id')
    .where('identity_id', '=', identityId)
    .where('token_id', '=', tokenId)
    .forUpdate()
    .executeTakeFirst()
  return found !== undefined
}

export type Listing = {
  tokenId: string
  condition: RawBuilder<boolean> | undefined
  order: RawBuilder<unknown> | undefined
  isDescending: boolean
  skipped: number
  count: number
}

export async function countUsers(db: Database, { tokenId, condition }: Listing, now: Date): Promise<number> {
  const found = await sql<{ count: number }>`
    select count(*)::integer as count
    from ${condition ? users(db, { tokenId }, now) : sql`scim_user u where u.token_id = ${tokenId}`}
    ${condition ? sql`where ${condition}` : sql``}`.execute(db)
  return found.rows[0]?.count ?? 0
}

/** Lists users in an order, those with the same value by ID. */
export async function listUsers(db: Database, listing: Listing, now: Date): Promise<StoredUser[]> {
  const { tokenId, condition, order, isDescending, skipped, count } = listing
  const direction = isDescending ? sql`desc` : sql`asc`
  const first = order ? sql`${order} ${direction}, ` : sql``
  const found = await sql<StoredUser>`
    select ${fields} from ${users(db, { tokenId }, now)}
    where ${condition ?? sql`true`}
    order by ${first}u.identity_id ${direction} limit ${count} offset ${skipped}`.execute(db)
  return found.rows
}

/** Checks whether a token has more than `most` users. */
export async function hasMoreUsers(db: Database, tokenId: string, most: number): Promise<boolean> {
  const found = await sql`
    select from scim_user where token_id = ${tokenId} offset ${most} limit 1`.execute(db)
  return found.rows.length > 0
}

/** Inserts a user. Returns false if another user of the token has its `userName`. */
export async function insertUser(tx: Transaction, key: Key, user: ScimUser, now: Date): Promise<boolean> {
  const inserted = await tx
    .insertInto('scim_user')
    .values({
      identity_id: key.identityId,
      token_id: key.tokenId,
      created_at: now,
      updated_at: now,
      ...columnsOf(user),
    })
    .onConflict((conflict) => conflict.columns(['token_id', 'user_name_key']).doNothing())
    .returning('identity_id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Updates a user that the transaction has locked. Returns false if another user of the token has its `userName`. */
export async function updateUser(tx: Transaction, key: Key, user: ScimUser, now: Date): Promise<boolean> {
  const columns = columnsOf(user)
  const taken = tx
    .selectFrom('scim_user as other')
    .select('other.identity_id')
    .where('other.token_id', '=', key.tokenId)
    .where('other.user_name_key', '=', columns.user_name_key)
    .where('other.identity_id', '<>', key.identityId)
  const { numUpdatedRows } = await tx
    .updateTable('scim_user')
    .set({ ...columns, updated_at: now })
    .where('identity_id', '=', key.identityId)
    .where(({ not, exists }) => not(exists(taken)))
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

function columnsOf(user: ScimUser) {
  return {
    user_name: user.userName,
    user_name_key: user.userName.toLowerCase(),
    external_id: user.externalId,
    display_name: user.displayName,
    formatted_name: user.formattedName,
    given_name: user.givenName,
    family_name: user.familyName,
    emails: emailsOf(user.emails),
    email_keys: emailKeysOf(user),
    active: user.active,
  }
}

function emailsOf(emails: ScimEmail[]): RawBuilder<string> {
  return sql`${JSON.stringify(emails)}::jsonb`
}

/** Deletes users by the IDs of their identities. */
export async function deleteUsers(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('scim_user').where('identity_id', 'in', identityIds).execute()
}

/** Lists up to `batch` users of a token. */
export async function listIdentityIds(tx: Transaction, tokenId: string, batch: number): Promise<IdentityId[]> {
  const found = await tx
    .selectFrom('scim_user')
    .select('identity_id as identityId')
    .where('token_id', '=', tokenId)
    .limit(batch)
    .execute()
  return found.map(({ identityId }) => identityId)
}
