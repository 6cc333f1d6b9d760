import type { EncryptionMode } from '@countersign/protocol/oauth/app-keys'
import { foldHandle } from '@countersign/protocol/formats/handle'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

/** `publicKey` where it is of a key pair, and the ciphertext its private half. */
export type AppKey = { mode: EncryptionMode; ciphertext: string; publicKey: Uint8Array | null; createdAt: Date }
type Place = { identityId: string; clientId: string; mode: EncryptionMode }

const appKey = ['mode', 'ciphertext', 'public_key as publicKey', 'created_at as createdAt'] as const

export function findAppKey(tx: Transaction, { identityId, clientId, mode }: Place): Promise<AppKey | undefined> {
  return tx
    .selectFrom('authorization_app_key')
    .select(appKey)
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .where('mode', '=', mode)
    .executeTakeFirst()
}

/** The keys of some identities in the apps that they have connected, the newest first. */
export function listAppKeys(db: Database | Transaction, identityIds: string[], clientId?: string) {
  return db
    .selectFrom('authorization_app_key')
    .select(['identity_id as identityId', 'client_id as clientId', ...appKey])
    .where('identity_id', 'in', identityIds)
    .$if(clientId !== undefined, (keys) => keys.where('client_id', '=', clientId ?? ''))
    .orderBy('created_at', 'desc')
    .execute()
}

/** Puts a key in its place, instead of the one that is there. */
export async function upsertAppKey(tx: Transaction, { identityId, clientId }: Place, key: AppKey): Promise<void> {
  const kept = { ciphertext: key.ciphertext, public_key: key.publicKey, created_at: key.createdAt }
  await tx
    .insertInto('authorization_app_key')
    .values({ identity_id: identityId, client_id: clientId, mode: key.mode, ...kept })
    .onConflict((conflict) => conflict.columns(['identity_id', 'client_id', 'mode']).doUpdateSet(kept))
    .execute()
}

/** Notes for ever whose a public key is among those who use an app; false where it is another's. */
export async function claimPublicKey(
  tx: Transaction,
  { identityId, clientId }: Place,
  publicKey: Uint8Array,
): Promise<boolean> {
  const own = await tx
    .insertInto('authorization_app_key_owner')
    .values({ client_id: clientId, public_key: publicKey, identity_id: identityId })
    .onConflict((conflict) =>
      conflict
        .columns(['client_id', 'public_key'])
        .doUpdateSet({ identity_id: identityId })
        .where('authorization_app_key_owner.identity_id', '=', identityId),
    )
    .returning('identity_id')
    .executeTakeFirst()
  return own !== undefined
}

export async function deleteAppKeysOfApp(tx: Transaction, identityId: string, clientId: string): Promise<void> {
  await tx
    .deleteFrom('authorization_app_key')
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .execute()
}

export async function deleteAppKeys(tx: Transaction, identityIds: string[]): Promise<void> {
  await tx.deleteFrom('authorization_app_key').where('identity_id', 'in', identityIds).execute()
}

/** Somebody to look for in an app. */
export type Sought = { clientId: string } & ({ handle: string } | { publicKey: Uint8Array })

/** An id that no identity has. */
const nobody = '00000000-0000-0000-0000-000000000000'

/**
 * The public key of somebody in an app, and how they are shown. One statement that takes the same steps whether or not
 * there is such a handle or key: then nobody's keys are looked for.
 */
export function findKeyHolder(db: Database, { clientId, ...sought }: Sought) {
  const found = 'handle' in sought ? ownerOfHandle(db, sought.handle) : ownerOfKey(db, clientId, sought.publicKey)
  return db
    .selectFrom('authorization_app_key as app_key')
    .innerJoin('identity', 'identity.identity_id', 'app_key.identity_id')
    .select(['identity.identity_id as identityId', 'handle', 'display_name as displayName', 'public_key as publicKey'])
    .where('app_key.identity_id', '=', sql<string>`coalesce((${found}), ${nobody}::uuid)`)
    .where('client_id', '=', clientId)
    .where('mode', '=', 'asymmetric')
    .executeTakeFirst()
}

/** By the row at or before the handle, which nearly every handle has: to read none would be faster. */
function ownerOfHandle(db: Database, handle: string) {
  const folded = foldHandle(handle)
  return db
    .selectFrom('identity_handle')
    .select(({ case: when }) =>
      when()
        .when(sql<boolean>`handle_folded = ${folded} and free_at is null`)
        .then(sql.ref<string>('identity_id'))
        .end()
        .as('identity_id'),
    )
    .where('handle_folded', '<=', folded)
    .orderBy('handle_folded', 'desc')
    .limit(1)
}

function ownerOfKey(db: Database, clientId: string, publicKey: Uint8Array) {
  return db
    .selectFrom('authorization_app_key_owner')
    .select('identity_id')
    .where('client_id', '=', clientId)
    .where('public_key', '=', publicKey)
}
