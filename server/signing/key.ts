import { ed25519 } from '@noble/curves/ed25519.js'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { NewKeyPair } from '@countersign/protocol/keys'
import { isTaken, type Database, type Transaction } from '#kernel/database.ts'
import { refusals } from '#kernel/refusal.ts'
import { deleteKeys, insertKey, insertKeyOwner, listKeys } from './store.ts'

const refuse = refusals({
  invalid_public_key: [400, 'The signing key is not a canonical Ed25519 public key in canonical base64.'],
  key_in_use: [409, 'This signing key belongs to another identity.'],
})

/** Enrols the first signing key of a new identity. Refuses `key_in_use`. `publicKey` comes from `readPublicKey`. */
export async function enrolFirstKey(
  tx: Transaction,
  {
    identityId,
    publicKey,
    encryptedPrivateKey,
  }: { identityId: string; publicKey: Uint8Array; encryptedPrivateKey: string },
  now: Date,
): Promise<void> {
  try {
    await insertKeyOwner(tx, publicKey, identityId)
  } catch (error) {
    throw isTaken(error, 'signing_key_owner_pkey') ? refuse.key_in_use() : error
  }
  await insertKey(tx, { identityId, keyVersion: 1, publicKey, encryptedPrivateKey }, now)
}

/** The signing keys of an identity, the first one first. */
export async function listSigningKeys(db: Database, identityId: string) {
  const keys = await listKeys(db, identityId)
  return keys.map(({ publicKey, createdAt, ...key }) => ({
    ...key,
    publicKey: toBase64(publicKey),
    createdAt: createdAt.toISOString(),
  }))
}

/** Forgets the keys of identities that are going. Whose they were stays on record: nobody else may ever hold one. */
export async function forgetSigningKeys(tx: Transaction, identityIds: string[]): Promise<void> {
  await deleteKeys(tx, identityIds)
}

/** The bytes of an Ed25519 public key. Refuses `invalid_public_key` for a text or a point that is not canonical. */
export function readPublicKey({ publicKey }: Pick<NewKeyPair, 'publicKey'>): Uint8Array {
  const bytes = fromCanonicalBase64(publicKey)
  if (!bytes || !isSoundPoint(bytes)) throw refuse.invalid_public_key()
  return bytes
}

/**
 * Whether these bytes are the one encoding of a point of Ed25519 (RFC 8032 §5.1.3), and one that only its owner can
 * sign under.
 */
export function isSoundPoint(bytes: Uint8Array): boolean {
  try {
    return !ed25519.Point.fromBytes(bytes, strict).isSmallOrder()
  } catch {
    // The library says so by throwing: these bytes are no point.
    return false
  }
}

/** Not ZIP 215, which also takes encodings that are not canonical. */
const strict = false
