import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import { isSealedOtherwise } from '#platform/database/sealed.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import type { Database, Transaction } from '#platform/database/database.ts'

const columns = [
  'organization_key.organization_id as organizationId',
  'organization_key.key_id as keyId',
  'version',
  'custody',
  'sealed_key as sealedKey',
  'fingerprint',
  'organization_key.created_at as createdAt',
  'rotation_due_at as rotationDueAt',
  'retired_at as endedAt',
] as const

export type KeyRow = NonNullable<Awaited<ReturnType<typeof findKey>>>

type OrganizationKeyId = { organizationId: OrganizationId; keyId: string }

function keys(db: Database, organizationId: OrganizationId) {
  return db.selectFrom('organization_key').select(columns).where('organization_id', '=', organizationId)
}

/** Lists the keys of an organization, newest first. */
export function listKeys(db: Database, organizationId: OrganizationId) {
  return keys(db, organizationId).orderBy('version', 'desc').execute()
}

export function findKey(db: Database, { organizationId, keyId }: OrganizationKeyId) {
  return keys(db, organizationId).where('key_id', '=', keyId).executeTakeFirst()
}

export function findActiveKey(db: Database, organizationId: OrganizationId) {
  return keys(db, organizationId).where('retired_at', 'is', null).executeTakeFirst()
}

/** Inserts a key. Returns false if the organization has used the same key before. */
export async function insertKey(
  tx: Transaction,
  { organizationId, keyId, version, custody, sealedKey, fingerprint }: Omit<KeyRow, 'createdAt' | keyof Ending>,
  now: Date,
): Promise<boolean> {
  const inserted = await tx
    .insertInto('organization_key')
    .values({
      organization_id: organizationId,
      key_id: keyId,
      version,
      custody,
      sealed_key: sealedKey,
      fingerprint,
      created_at: now,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'fingerprint']).doNothing())
    .returning('key_id')
    .executeTakeFirst()
  return inserted !== undefined
}

type Ending = Pick<KeyRow, 'rotationDueAt' | 'endedAt'>

/** Retires the active key. Returns false if another key is active, or none. */
export async function retireKey(
  tx: Transaction,
  { organizationId, keyId }: OrganizationKeyId,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization_key')
    .set({ retired_at: now })
    .where('organization_id', '=', organizationId)
    .where('key_id', '=', keyId)
    .where('retired_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Deletes a retired key with its wraps. Returns false if it is active or does not exist. */
export async function deleteEndedKey(tx: Transaction, { organizationId, keyId }: OrganizationKeyId): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('organization_key')
    .where('organization_id', '=', organizationId)
    .where('key_id', '=', keyId)
    .where('retired_at', 'is not', null)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Counts the keys of an organization. */
export async function countKeys(tx: Transaction, organizationId: OrganizationId): Promise<number> {
  const { all } = await tx
    .selectFrom('organization_key')
    .select(({ fn }) => fn.countAll<string>().as('all'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(all)
}

/**
 * Marks the active key as due for rotation, unless it is marked already. With `identityIds` it does so only if these
 * members can have the key: a shared key if it was shared with them, a key stored by the service in any case.
 */
export async function markActiveKey(
  tx: Transaction,
  { organizationId, identityIds }: { organizationId: OrganizationId; identityIds?: IdentityId[] },
  now: Date,
): Promise<void> {
  await tx
    .updateTable('organization_key')
    .set({ rotation_due_at: now })
    .where('organization_id', '=', organizationId)
    .where('retired_at', 'is', null)
    .where('rotation_due_at', 'is', null)
    .$if(identityIds !== undefined, (some) =>
      some.where(({ or, eb, exists, selectFrom }) =>
        or([
          eb('custody', '<>', 'identity_grants'),
          exists(
            selectFrom('organization_key_wrap as granted')
              .innerJoin('organization_member as member', (join) =>
                join
                  .onRef('member.organization_id', '=', 'granted.organization_id')
                  .onRef('member.member_id', '=', 'granted.member_id'),
              )
              .select('granted.key_id')
              .whereRef('granted.organization_id', '=', 'organization_key.organization_id')
              .whereRef('granted.key_id', '=', 'organization_key.key_id')
              .where('member.identity_id', 'in', identityIds ?? []),
          ),
        ]),
      ),
    )
    .execute()
}

export type MemberKeyWrapRow = Awaited<ReturnType<typeof listGrants>>[number]

/** Members of an organization with their wraps of a key and their encryption keys. */
function membersWithGrants(db: Database, { organizationId, keyId }: OrganizationKeyId) {
  return db
    .selectFrom('organization_member as member')
    .innerJoin('identity', 'identity.identity_id', 'member.identity_id')
    .leftJoin('encryption_identity_key as key', 'key.identity_id', 'identity.identity_id')
    .leftJoin('organization_key_wrap as granted', (join) =>
      join
        .onRef('granted.organization_id', '=', 'member.organization_id')
        .onRef('granted.member_id', '=', 'member.member_id')
        .on('granted.key_id', '=', keyId),
    )
    .select([
      'member.member_id as memberId',
      'member.identity_id as identityId',
      'handle',
      'display_name as displayName',
      'key.public_key as publicKey',
      'granted.ciphertext',
    ])
    .where('member.organization_id', '=', organizationId)
}

type Page = { after?: string | undefined; count?: number }

/** Lists the members with their wraps of a key, or some of them, in the order in which they joined (by id). */
export function listGrants(db: Database, key: OrganizationKeyId, { after, count }: Page = {}) {
  return membersWithGrants(db, key)
    .$if(after !== undefined, (later) => later.where('member.member_id', '>', after ?? ''))
    .orderBy('member.member_id')
    .$if(count !== undefined, (few) => few.limit(count ?? 0))
    .execute()
}

/** Lists these members with their wraps of a key. */
export function listGrantsOf(db: Database, key: OrganizationKeyId, memberIds: string[]) {
  return membersWithGrants(db, key)
    .where(sql<boolean>`member.member_id = any(${memberIds}::uuid[])`)
    .execute()
}

export function findGrant(db: Database, key: OrganizationKeyId, memberId: string) {
  return membersWithGrants(db, key).where('member.member_id', '=', memberId).executeTakeFirst()
}

type Grant = { memberId: string; ciphertext: string }

/**
 * Stores wraps of a key for members, and returns the members stored. Existing wraps are kept, because they could not be
 * restored; only the sharing member's own wrap is replaced.
 */
export async function insertGrants(
  tx: Transaction,
  { organizationId, keyId, grants, by }: OrganizationKeyId & { grants: Grant[]; by: string },
  now: Date,
): Promise<string[]> {
  const rows = grants.map(({ memberId, ciphertext }) => ({
    organization_id: organizationId,
    key_id: keyId,
    member_id: memberId,
    ciphertext,
    granted_at: now,
  }))
  const kept = await tx
    .insertInto('organization_key_wrap')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'key_id', 'member_id'])
        .doUpdateSet({ ciphertext: ({ ref }) => ref('excluded.ciphertext'), granted_at: now })
        .where('organization_key_wrap.member_id', '=', by),
    )
    .returning('member_id')
    .execute()
  return kept.map((row) => row.member_id)
}

/** Deletes a member's wrap of a key. Returns false if there is none. */
export async function deleteGrant(
  tx: Transaction,
  { organizationId, keyId, memberId }: OrganizationKeyId & { memberId: string },
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('organization_key_wrap')
    .where('organization_id', '=', organizationId)
    .where('key_id', '=', keyId)
    .where('member_id', '=', memberId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Deletes the wraps of the keys of an organization for these identities, and returns them. */
export async function deleteGrantsOf(tx: Transaction, organizationId: OrganizationId, identityIds: IdentityId[]) {
  return tx
    .deleteFrom('organization_key_wrap as granted')
    .using('organization_member as member')
    .whereRef('member.organization_id', '=', 'granted.organization_id')
    .whereRef('member.member_id', '=', 'granted.member_id')
    .where('granted.organization_id', '=', organizationId)
    .where('member.identity_id', 'in', identityIds)
    .returning(['member.identity_id as identityId', 'granted.key_id as keyId', 'granted.ciphertext as ciphertext'])
    .execute()
}

/** Lists the keys of an organization that are shared with a member, with the number of members who have each key. */
export function countGrants(db: Database, organizationId: OrganizationId, memberId: string) {
  return db
    .selectFrom('organization_key_wrap')
    .select(['key_id as keyId'])
    .select(({ fn }) => fn.countAll<string>().as('members'))
    .select(({ fn, eb }) => fn<boolean>('bool_or', [eb('member_id', '=', memberId)]).as('isHeld'))
    .where('organization_id', '=', organizationId)
    .groupBy('key_id')
    .execute()
}

/** Counts the members of an organization, and those who have an encryption key. */
export async function countMembers(db: Database, organizationId: OrganizationId) {
  const { all, reachable } = await db
    .selectFrom('organization_member as member')
    .leftJoin('encryption_identity_key as key', 'key.identity_id', 'member.identity_id')
    .select(({ fn }) => [fn.countAll<string>().as('all'), fn.count<string>('key.identity_id').as('reachable')])
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return { all: Number(all), reachable: Number(reachable) }
}

/** Lists the keys that the service has sealed, but not under its current root key. */
export function listSealedKeys(db: Database, keyring: Keyring) {
  return db
    .selectFrom('organization_key')
    .select(['organization_id as organizationId', 'key_id as keyId', 'sealed_key as sealedKey'])
    .where('custody', '=', 'svc_standard')
    .where(isSealedOtherwise('sealed_key', keyring))
    .execute()
}

/** Replaces a sealed key, unless it has been replaced in the meantime. */
export async function replaceSealed(
  db: Database,
  { organizationId, keyId }: OrganizationKeyId,
  { before, after }: { before: string; after: string },
): Promise<void> {
  await db
    .updateTable('organization_key')
    .set({ sealed_key: after })
    .where('organization_id', '=', organizationId)
    .where('key_id', '=', keyId)
    .where('sealed_key', '=', before)
    .execute()
}

/** Deletes the wraps of all keys of an organization. */
export async function deleteGrantsOfOrganization(tx: Transaction, organizationId: OrganizationId): Promise<void> {
  await tx.deleteFrom('organization_key_wrap').where('organization_id', '=', organizationId).execute()
}
