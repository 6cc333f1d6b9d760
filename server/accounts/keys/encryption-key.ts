import { curveOfPublicKey } from '@countersign/protocol/formats/encryption/agreement-key'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { IdentityKey, NewKeyPair } from '@countersign/protocol/accounts/keys'
import { findByHandle, holdOwnIdentity, requireOwnIdentity } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { requireFresh, type Session } from '#accounts/sessions/session.ts'
import * as store from './store.ts'

const refuse = refusals({
  identity_not_found: [404, 'There is no identity of this handle.'],
  no_encryption_key: [404, 'This identity has no encryption key.'],
  key_exists: [409, 'This identity has an encryption key.'],
  invalid_public_key: [400, 'The encryption key is not a public key of X25519 or P-256, as SPKI in canonical base64.'],
})

type NewIdentityKey = { identityId: string; publicKey: Uint8Array; encryptedPrivateKey: string }

/** Enrols the encryption key of a new identity. `publicKey` comes from `readEncryptionKey`. */
export async function enrolEncryptionKey(tx: Transaction, key: NewIdentityKey, now: Date): Promise<void> {
  await store.insertIdentityKey(tx, key, now)
}

/** The encryption key of an identity; null where it has none. */
export async function readIdentityKey(db: Database, identityId: string) {
  const key = await store.findIdentityKey(db, identityId)
  if (!key) return null
  return { ...key, publicKey: toBase64(key.publicKey), createdAt: key.createdAt.toISOString() }
}

/** The same as its owner gets it. Refuses `identity_not_found`. */
export async function readOwnKey(db: Database, session: Session, identityId: string) {
  await requireOwnIdentity(db, session, identityId)
  const key = await readIdentityKey(db, identityId)
  return key ? { ...key, identityId, hasKey: true as const } : { identityId, hasKey: false as const }
}

/** What anybody may know of the key of a handle. Refuses `identity_not_found`, `no_encryption_key`. */
export async function lookUpIdentityKey(db: Database, sought: string) {
  const identity = await findByHandle(db, sought)
  if (!identity) throw refuse.identity_not_found()
  const key = await readIdentityKey(db, identity.identityId)
  if (!key) throw refuse.no_encryption_key()
  return { handle: identity.handle, publicKey: key.publicKey, createdAt: key.createdAt }
}

/**
 * Gives an identity its encryption key; what was encrypted to one could not be opened after another took its place, so
 * none is ever replaced. Refuses `identity_not_found`, `reauthentication_required`, `invalid_public_key`, `key_exists`.
 */
export async function createIdentityKey(
  db: Database,
  session: Session,
  { identityId, publicKey, encryptedPrivateKey }: NewKeyPair & { identityId: string },
  now: Date,
): Promise<IdentityKey> {
  const { userId } = session
  await requireOwnIdentity(db, session, identityId)
  requireFresh(session, now)
  const key = { identityId, publicKey: readEncryptionKey({ publicKey }), encryptedPrivateKey }
  return actingTransaction(db, session, async (tx) => {
    // Held: of two keys at once, one comes too late.
    await holdOwnIdentity(tx, session, identityId)
    if (await store.findIdentityKey(tx, identityId)) throw refuse.key_exists()
    await enrolEncryptionKey(tx, key, now)
    await record(tx, { action: 'encryption_key.created', actor: 'person', userId, identityId }, now)
    return { identityId, hasKey: true, publicKey, encryptedPrivateKey, createdAt: now.toISOString() }
  })
}

/** Forgets the keys of identities that are going. */
export async function forgetIdentityKeys(tx: Transaction, identityIds: string[]): Promise<void> {
  await store.deleteIdentityKeys(tx, identityIds)
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
