import { curveOfPublicKey } from '@countersign/protocol/formats/encryption/agreement-key'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { IdentityKey, NewKeyPair } from '@countersign/protocol/accounts/keys'
import type { IdentityId } from '@countersign/protocol/ids'
import { findByHandle, lockOwnIdentity, requireOwnIdentity } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { requireRecentAuthentication, type PasskeySession } from '#accounts/sessions/session.ts'
import * as store from './store.ts'

const errors = defineErrors({
  identity_not_found: [404, 'No identity has this handle.'],
  no_encryption_key: [404, 'The identity has no encryption key.'],
  key_exists: [409, 'The identity already has an encryption key.'],
  invalid_public_key: [400, 'publicKey must be an X25519 or P-256 public key as SPKI in canonical base64.'],
})

type NewIdentityKey = { identityId: IdentityId; publicKey: Uint8Array; encryptedPrivateKey: string }

/** Stores the encryption key of a new identity. `publicKey` comes from `parseEncryptionPublicKey`. */
export async function storeEncryptionKey(tx: Transaction, key: NewIdentityKey, now: Date): Promise<void> {
  await store.insertIdentityKey(tx, key, now)
}

/** Returns the encryption key of an identity, or null if it has none. */
export async function getIdentityEncryptionKey(db: Database, identityId: IdentityId) {
  const key = await store.findIdentityKey(db, identityId)
  if (!key) return null
  const { publicKey, encryptedPrivateKey, createdAt, recoveredAt } = key
  const instants = { createdAt: createdAt.toISOString(), recoveredAt: recoveredAt?.toISOString() ?? null }
  return { publicKey: toBase64(publicKey), encryptedPrivateKey, ...instants }
}

/** Returns the encryption key of the user's own identity. Throws `identity_not_found`. */
export async function getOwnEncryptionKey(db: Database, session: PasskeySession, identityId: IdentityId, now: Date) {
  await requireOwnIdentity(db, session, identityId, now)
  const key = await getIdentityEncryptionKey(db, identityId)
  return key ? { ...key, identityId, hasKey: true as const } : { identityId, hasKey: false as const }
}

/**
 * Returns the public part of the encryption key that belongs to a handle. Throws `identity_not_found` or
 * `no_encryption_key`.
 */
export async function getPublicEncryptionKey(db: Database, handle: string) {
  const identity = await findByHandle(db, handle)
  if (!identity) throw errors.identity_not_found()
  const key = await getIdentityEncryptionKey(db, identity.identityId)
  if (!key) throw errors.no_encryption_key()
  const { publicKey, createdAt, recoveredAt } = key
  return { handle: identity.handle, publicKey, createdAt, recoveredAt }
}

/**
 * Stores an identity's encryption key. A key is never replaced, because data encrypted to it could no longer be
 * decrypted. Throws `identity_not_found`, `reauthentication_required`, `invalid_public_key` or `key_exists`.
 */
export async function createIdentityKey(
  db: Database,
  session: PasskeySession,
  { identityId, publicKey, encryptedPrivateKey }: NewKeyPair & { identityId: IdentityId },
  now: Date,
): Promise<IdentityKey> {
  const { userId } = session
  await requireOwnIdentity(db, session, identityId, now)
  requireRecentAuthentication(session, now)
  const key = { identityId, publicKey: parseEncryptionPublicKey({ publicKey }), encryptedPrivateKey }
  return actingTransaction(db, session, async (tx) => {
    // With the lock, the second of two concurrent keys is rejected.
    await lockOwnIdentity(tx, session, identityId, now)
    if (await store.findIdentityKey(tx, identityId)) throw errors.key_exists()
    await storeEncryptionKey(tx, key, now)
    await recordAuditEvent(tx, { action: 'encryption_key.created', actor: 'user', userId, identityId }, now)
    return { identityId, hasKey: true, publicKey, encryptedPrivateKey, createdAt: now.toISOString() }
  })
}

/** Deletes the encryption keys of identities that are being deleted. */
export async function deleteEncryptionKeys(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await store.deleteIdentityKeys(tx, identityIds)
}

/** Returns the SPKI bytes of an encryption key. Throws `invalid_public_key` for other key types and other encodings. */
export function parseEncryptionPublicKey({ publicKey }: Pick<NewKeyPair, 'publicKey'>): Uint8Array {
  const bytes = parseEncryptionKey(publicKey)
  if (!bytes) throw errors.invalid_public_key()
  return bytes
}

/** Returns the SPKI bytes of an encryption key, or undefined for any other text. */
function parseEncryptionKey(publicKey: string): Uint8Array | undefined {
  const bytes = fromCanonicalBase64(publicKey)
  return bytes && curveOfPublicKey(bytes) ? bytes : undefined
}
