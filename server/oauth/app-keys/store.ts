import type { EncryptionMode } from '@countersign/protocol/oauth/app-keys'
import { normalizeHandle } from '@countersign/protocol/formats/handle'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

/** Key of an identity in an app. For a key pair, `publicKey` is set and the ciphertext holds the private key. */
export type AppKey = { mode: EncryptionMode; ciphertext: string; publicKey: Uint8Array | null; createdAt: Date }
type AppKeyId = { identityId: IdentityId; clientId: ClientId; mode: EncryptionMode }

const appKey = ['mode', 'ciphertext', 'public_key as publicKey', 'created_at as createdAt'] as const

export function findAppKey(tx: Transaction, { identityId, clientId, mode }: AppKeyId): Promise<AppKey | undefined> {
  return tx
    .selectFrom('authorization_app_key')
    .select(appKey)
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .where('mode', '=', mode)
    .executeTakeFirst()
}

/** Lists the app keys of the given identities, newest first. */
export function listAppKeys(db: Database | Transaction, identityIds: IdentityId[], clientId?: ClientId) {
  const keys = db
    .selectFrom('authorization_app_key')
    .select(['identity_id as identityId', 'client_id as clientId', ...appKey])
    .where('identity_id', 'in', identityIds)
    .orderBy('created_at', 'desc')
  return (clientId === undefined ? keys : keys.where('client_id', '=', clientId)).execute()
}

/** Stores an app key and replaces the one that has the same mode. */
export async function upsertAppKey(tx: Transaction, { identityId, clientId }: AppKeyId, key: AppKey): Promise<void> {
  const kept = { ciphertext: key.ciphertext, public_key: key.publicKey, created_at: key.createdAt }
  await tx
    .insertInto('authorization_app_key')
    .values({ identity_id: identityId, client_id: clientId, mode: key.mode, ...kept })
    .onConflict((conflict) => conflict.columns(['identity_id', 'client_id', 'mode']).doUpdateSet(kept))
    .execute()
}

/** Replaces the ciphertext of an app key if it is still `replaces`. Returns false if it is not. */
export async function swapCiphertext(
  tx: Transaction,
  { identityId, clientId, mode }: AppKeyId,
  { replaces, ciphertext }: { replaces: string; ciphertext: string },
): Promise<boolean> {
  const swapped = await tx
    .updateTable('authorization_app_key')
    .set({ ciphertext })
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .where('mode', '=', mode)
    .where('ciphertext', '=', replaces)
    .returning('identity_id')
    .executeTakeFirst()
  return swapped !== undefined
}

/**
 * Reserves a public key for an identity in an app, as long as the identity exists. Returns false if it belongs to
 * another identity.
 */
export async function reserveAppPublicKey(
  tx: Transaction,
  { identityId, clientId }: AppKeyId,
  publicKey: Uint8Array,
): Promise<boolean> {
  const own = await tx
    .insertInto('authorization_app_public_key')
    .values({ client_id: clientId, public_key: publicKey, identity_id: identityId })
    .onConflict((conflict) =>
      conflict
        .columns(['client_id', 'public_key'])
        .doUpdateSet({ identity_id: identityId })
        .where('authorization_app_public_key.identity_id', '=', identityId),
    )
    .returning('identity_id')
    .executeTakeFirst()
  return own !== undefined
}

export type TakenAppKey = Awaited<ReturnType<typeof deleteKeysOf>>[number]

/** Deletes the app keys of identities, in all apps or in some, and returns them. Their public keys stay reserved. */
export function deleteKeysOf(tx: Transaction, identityIds: IdentityId[], clientIds?: ClientId[]) {
  const keys = tx.deleteFrom('authorization_app_key').where('identity_id', 'in', identityIds)
  return (clientIds === undefined ? keys : keys.where(sql<boolean>`client_id = any(${clientIds}::text[])`))
    .returning(['identity_id as identityId', 'client_id as clientId', 'ciphertext'])
    .execute()
}

/** Deletes the app keys of an identity that is being deleted, and releases its current and former public keys. */
export async function deleteAppKeys(tx: Transaction, identityId: IdentityId): Promise<void> {
  await tx.deleteFrom('authorization_app_key').where('identity_id', '=', identityId).execute()
  await tx.deleteFrom('authorization_app_public_key').where('identity_id', '=', identityId).execute()
}

/** Releases up to `batch` current and former public keys of a deleted app. Returns their number. */
export async function deletePublicKeysOfApp(tx: Transaction, clientId: ClientId, batch: number): Promise<number> {
  const some = tx
    .selectFrom('authorization_app_public_key')
    .select('public_key')
    .where('client_id', '=', clientId)
    .limit(batch)
  const { numDeletedRows } = await tx
    .deleteFrom('authorization_app_public_key')
    .where('client_id', '=', clientId)
    .where('public_key', 'in', some)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Query for an identity in an app. */
export type AppKeyQuery = { clientId: ClientId } & ({ handle: string } | { publicKey: Uint8Array })

/** ID that no identity has. */
const nobody = '00000000-0000-0000-0000-000000000000'

/**
 * Finds the public key of an identity in an app, with its handle and display name. The query takes the same steps if
 * the handle or key does not exist: it then looks for the keys of a nonexistent identity.
 */
export function findAppKeyOwner(db: Database, { clientId, ...target }: AppKeyQuery) {
  const found = 'handle' in target ? ownerOfHandle(db, target.handle) : ownerOfKey(db, clientId, target.publicKey)
  return db
    .selectFrom('authorization_app_key as app_key')
    .innerJoin('identity', 'identity.identity_id', 'app_key.identity_id')
    .select(['identity.identity_id as identityId', 'handle', 'display_name as displayName', 'public_key as publicKey'])
    .where('app_key.identity_id', '=', sql<IdentityId>`coalesce((${found}), ${nobody}::uuid)`)
    .where('client_id', '=', clientId)
    .where('mode', '=', 'asymmetric')
    .executeTakeFirst()
}

/**
 * Selects through the row at or before the handle, which exists for nearly every handle. Reading no row would be
 * measurably faster.
 */
function ownerOfHandle(db: Database, handle: string) {
  const folded = normalizeHandle(handle)
  return db
    .selectFrom('identity_handle')
    .select(({ case: when }) =>
      when()
        .when(sql<boolean>`handle_normalized = ${folded} and available_at is null`)
        .then(sql.ref<string>('identity_id'))
        .end()
        .as('identity_id'),
    )
    .where('handle_normalized', '<=', folded)
    .orderBy('handle_normalized', 'desc')
    .limit(1)
}

function ownerOfKey(db: Database, clientId: ClientId, publicKey: Uint8Array) {
  return db
    .selectFrom('authorization_app_public_key')
    .select('identity_id')
    .where('client_id', '=', clientId)
    .where('public_key', '=', publicKey)
}
