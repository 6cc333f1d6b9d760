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
  'ended_at as endedAt',
] as const

export type KeyRow = NonNullable<Awaited<ReturnType<typeof findKey>>>

type Place = { organizationId: string; keyId: string }

function keys(db: Database, organizationId: string) {
  return db.selectFrom('organization_key').select(columns).where('organization_id', '=', organizationId)
}

/** The keys of an organization, the newest first. */
export function listKeys(db: Database, organizationId: string) {
  return keys(db, organizationId).orderBy('version', 'desc').execute()
}

export function findKey(db: Database, { organizationId, keyId }: Place) {
  return keys(db, organizationId).where('key_id', '=', keyId).executeTakeFirst()
}

export function findKeyInForce(db: Database, organizationId: string) {
  return keys(db, organizationId).where('ended_at', 'is', null).executeTakeFirst()
}

/** Inserts a key; false where the organization has had the same. */
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

/** Ends the key in force; false where it is another one, or none. */
export async function endKey(tx: Transaction, { organizationId, keyId }: Place, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization_key')
    .set({ ended_at: now })
    .where('organization_id', '=', organizationId)
    .where('key_id', '=', keyId)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Deletes a key that has ended, with its grants; false where it is in force, or there is none. */
export async function deleteEndedKey(tx: Transaction, { organizationId, keyId }: Place): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('organization_key')
    .where('organization_id', '=', organizationId)
    .where('key_id', '=', keyId)
    .where('ended_at', 'is not', null)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** How many keys an organization has. */
export async function countKeys(tx: Transaction, organizationId: string): Promise<number> {
  const { all } = await tx
    .selectFrom('organization_key')
    .select(({ fn }) => fn.countAll<string>().as('all'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(all)
}

/**
 * Marks the key in force, if it is not marked yet; with `identityIds` where any of these members may have it: what is
 * granted they have if they were granted it, what a service keeps whoever was a member could get.
 */
export async function markKeyInForce(
  tx: Transaction,
  { organizationId, identityIds }: { organizationId: string; identityIds?: string[] },
  now: Date,
): Promise<void> {
  await tx
    .updateTable('organization_key')
    .set({ rotation_due_at: now })
    .where('organization_id', '=', organizationId)
    .where('ended_at', 'is', null)
    .where('rotation_due_at', 'is', null)
    .$if(identityIds !== undefined, (some) =>
      some.where(({ or, eb, exists, selectFrom }) =>
        or([
          eb('custody', '<>', 'identity_grants'),
          exists(
            selectFrom('organization_key_grant as granted')
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

export type GrantRow = Awaited<ReturnType<typeof listGrants>>[number]

/** The members of an organization with what they were granted of a key, and their encryption keys; or one of them. */
export function listGrants(db: Database, { organizationId, keyId }: Place, memberId?: string) {
  return db
    .selectFrom('organization_member as member')
    .innerJoin('identity', 'identity.identity_id', 'member.identity_id')
    .leftJoin('encryption_identity_key as key', 'key.identity_id', 'member.identity_id')
    .leftJoin('organization_key_grant as granted', (join) =>
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
    .$if(memberId !== undefined, (one) => one.where('member.member_id', '=', memberId ?? ''))
    .orderBy('joined_at')
    .orderBy('member.member_id')
    .execute()
}

type Grant = { memberId: string; ciphertext: string }

/**
 * Keeps what a key is to these members, and says of which: of none who has it already, as nobody could bring back what
 * would be written over, but of the one who grants it.
 */
export async function insertGrants(
  tx: Transaction,
  { organizationId, keyId, grants, by }: Place & { grants: Grant[]; by: string },
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
    .insertInto('organization_key_grant')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'key_id', 'member_id'])
        .doUpdateSet({ ciphertext: ({ ref }) => ref('excluded.ciphertext'), granted_at: now })
        .where('organization_key_grant.member_id', '=', by),
    )
    .returning('member_id')
    .execute()
  return kept.map((row) => row.member_id)
}

/** Deletes what a member was granted of a key; false where that is nothing. */
export async function deleteGrant(
  tx: Transaction,
  { organizationId, keyId, memberId }: Place & { memberId: string },
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('organization_key_grant')
    .where('organization_id', '=', organizationId)
    .where('key_id', '=', keyId)
    .where('member_id', '=', memberId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Which keys of an organization a member was granted, and how many members each. */
export function countGrants(db: Database, organizationId: string, memberId: string) {
  return db
    .selectFrom('organization_key_grant')
    .select(['key_id as keyId'])
    .select(({ fn }) => fn.countAll<string>().as('members'))
    .select(({ fn, eb }) => fn<boolean>('bool_or', [eb('member_id', '=', memberId)]).as('isHeld'))
    .where('organization_id', '=', organizationId)
    .groupBy('key_id')
    .execute()
}

/** How many members an organization has, and how many of them have an encryption key. */
export async function countMembers(db: Database, organizationId: string) {
  const { all, reachable } = await db
    .selectFrom('organization_member as member')
    .leftJoin('encryption_identity_key as key', 'key.identity_id', 'member.identity_id')
    .select(({ fn }) => [fn.countAll<string>().as('all'), fn.count<string>('key.identity_id').as('reachable')])
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return { all: Number(all), reachable: Number(reachable) }
}

/** The keys that our keyring has sealed. */
export function listSealedKeys(db: Database) {
  return db
    .selectFrom('organization_key')
    .select(['organization_id as organizationId', 'key_id as keyId', 'sealed_key as sealedKey'])
    .where('custody', '=', 'svc_standard')
    .execute()
}

/** Puts a seal in the place of another, unless that has been replaced already. */
export async function replaceSealed(
  db: Database,
  { organizationId, keyId }: Place,
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
