import { curveOfPublicKey } from '@countersign/protocol/formats/agreement-key'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { NewKeyPair } from '@countersign/protocol/keys'
import type { Database, Transaction } from '#kernel/database.ts'
import { refusals } from '#kernel/refusal.ts'
import { deleteIdentityKeys, findIdentityKey, insertIdentityKey } from './store.ts'

const refuse = refusals({
  invalid_public_key: [400, 'The encryption key is not a public key of X25519 or P-256, as SPKI in canonical base64.'],
})

type NewIdentityKey = { identityId: string; publicKey: Uint8Array; encryptedPrivateKey: string }

/** Enrols the encryption key of a new identity. `publicKey` comes from `readEncryptionKey`. */
export async function enrolEncryptionKey(tx: Transaction, key: NewIdentityKey, now: Date): Promise<void> {
  await insertIdentityKey(tx, key, now)
}

/** The encryption key of an identity; null where it has none. */
export async function readIdentityKey(db: Database, identityId: string) {
  const key = await findIdentityKey(db, identityId)
  if (!key) return null
  return { ...key, publicKey: toBase64(key.publicKey), createdAt: key.createdAt.toISOString() }
}

/** Forgets the keys of identities that are going. */
export async function forgetIdentityKeys(tx: Transaction, identityIds: string[]): Promise<void> {
  await deleteIdentityKeys(tx, identityIds)
}

/**
 * The SPKI bytes of an encryption key. Refuses `invalid_public_key` for another kind of key, or another encoding of it.
 */
export function readEncryptionKey({ publicKey }: Pick<NewKeyPair, 'publicKey'>): Uint8Array {
  const bytes = parseEncryptionKey(publicKey)
  if (!bytes) throw refuse.invalid_public_key()
  return bytes
}

/** The same; undefined for what is no such key. */
export function parseEncryptionKey(publicKey: string): Uint8Array | undefined {
  const bytes = fromCanonicalBase64(publicKey)
  return bytes && curveOfPublicKey(bytes) ? bytes : undefined
}
