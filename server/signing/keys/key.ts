import type { RegistrationFinish } from '@countersign/protocol/accounts/passkeys'
import { type Database, type Transaction, isUniqueViolation } from '#platform/database/database.ts'
import { appendKeyEvent, getKeyChain } from '#signing/transparency/event.ts'
import * as store from './store.ts'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { NewKeyPair } from '@countersign/protocol/accounts/keys'
import type { SigningKey } from '@countersign/protocol/signing/signing'
import { findByHandle, lockOwnIdentity, requireOwnIdentity } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { type PasskeySession, requireRecentAuthentication } from '#accounts/sessions/session.ts'
import { isCanonicalSignature, isValidPublicKey } from '@countersign/protocol/formats/signing/ed25519'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { isValidCurvePoint, verifies } from '#platform/crypto/ed25519.ts'

/** Appends to the log that identities have no key any more. Call it before their keys are deleted. */
async function appendKeyRemovals(tx: Transaction, identityIds: IdentityId[], now: Date): Promise<void> {
  for (const { identityId, keyVersion, publicKey } of await store.listCurrentKeys(tx, identityIds)) {
    const chain = await getKeyChain(tx, identityId)
    await appendKeyEvent(tx, chain, { event: 'removed', keyVersion, publicKey, link: null, possession: null }, now)
  }
}

const errors = defineErrors({
  invalid_public_key: [400, 'publicKey must be a canonical Ed25519 public key in canonical base64.'],
  identity_not_found: [404, 'No identity has this handle.'],
  no_signing_key: [404, 'The identity had no signing key at that time.'],
  key_exists: [409, 'The identity already has a signing key. Rotate it instead.'],
  key_in_use: [409, 'This signing key belongs to another identity.'],
  key_used_before: [409, 'This identity has used this signing key before.'],
})

/** Key pair as it is stored; `parseSigningPublicKey` returns the public key. */
export type NewSigningKey = { identityId: IdentityId; publicKey: Uint8Array; encryptedPrivateKey: string }

/** Finds the current signing key of an identity. */
export function findCurrentKey(db: Database, identityId: IdentityId): Promise<store.StoredKey | undefined> {
  return store.findCurrentKey(db, identityId)
}

/** Reads the signing key of a registration. Throws `invalid_public_key`, and `key_in_use` when it is stored. */
export function readFirstSigningKey({ signingKey }: Pick<RegistrationFinish, 'signingKey'>) {
  if (!signingKey) return undefined
  const key = { ...signingKey, publicKey: parseSigningPublicKey(signingKey) }
  return (tx: Transaction, identityId: IdentityId, now: Date) => createFirstSigningKey(tx, { ...key, identityId }, now)
}

/** Stores the first signing key of a new identity. Throws `key_in_use`. */
async function createFirstSigningKey(tx: Transaction, key: NewSigningKey, now: Date): Promise<void> {
  await insertSigningKey(tx, { ...key, keyVersion: 1 }, now)
}

/** Makes a key the current one of its identity. Throws `key_in_use`, `key_used_before`. */
export async function insertSigningKey(
  tx: Transaction,
  key: NewSigningKey & { keyVersion: number },
  now: Date,
): Promise<void> {
  const owner = await store.findKeyOwner(tx, key.publicKey)
  if (owner) throw owner.identityId === key.identityId ? errors.key_used_before() : errors.key_in_use()
  try {
    await store.insertKeyOwner(tx, key.publicKey, key.identityId)
  } catch (error) {
    throw isUniqueViolation(error, 'signing_key_owner_pkey') ? errors.key_in_use() : error
  }
  await store.insertKey(tx, key, now)
  const { keyVersion, publicKey } = key
  const event = keyVersion === 1 ? 'created' : 'rotated'
  const chain = await getKeyChain(tx, key.identityId)
  await appendKeyEvent(tx, chain, { event, keyVersion, publicKey, link: null, possession: null }, now)
}

/**
 * Creates the first key of an identity. Throws `identity_not_found`, `reauthentication_required`, `invalid_public_key`,
 * `key_exists`, `key_in_use`, `key_used_before`.
 */
export async function createKey(
  db: Database,
  session: PasskeySession,
  { identityId, publicKey, encryptedPrivateKey }: NewKeyPair & { identityId: IdentityId },
  now: Date,
): Promise<SigningKey> {
  const { userId } = session
  await requireOwnIdentity(db, session, identityId)
  requireRecentAuthentication(session, now)
  const key = { identityId, publicKey: parseSigningPublicKey({ publicKey }), encryptedPrivateKey }
  return actingTransaction(db, session, async (tx) => {
    const { handle } = await lockOwnIdentity(tx, session, identityId)
    if (await store.findCurrentKey(tx, identityId)) throw errors.key_exists()
    await createFirstSigningKey(tx, key, now)
    await recordAuditEvent(tx, { action: 'signing_key.created', actor: 'user', userId, identityId }, now)
    return toRecord(handle, await store.listKeys(tx, identityId))
  })
}

/** Lists the current keys of a user's identities. */
export async function listKeyRecords(db: Database, userId: UserId): Promise<SigningKey[]> {
  const byIdentity = Map.groupBy(await store.listKeysOfUser(db, userId), ({ identityId }) => identityId)
  return [...byIdentity.values()].map((keys) => toRecord(keys[0]?.handle ?? '', keys))
}

/** Returns the current key of an identity, or that it has none. Throws `identity_not_found`. */
export async function getSigningKey(db: Database, session: PasskeySession, identityId: IdentityId) {
  const { handle } = await requireOwnIdentity(db, session, identityId)
  const keys = await store.listKeys(db, identityId)
  return keys.length > 0 ? toRecord(handle, keys) : { identityId, handle, hasKey: false as const }
}

/**
 * Returns the public key of an identity, now or at an instant; needs no authentication. Throws `identity_not_found`,
 * `no_signing_key`.
 */
export async function getPublicKeyByHandle(db: Database, handle: string, at: Date | undefined) {
  const identity = await findByHandle(db, handle)
  if (!identity) throw errors.identity_not_found()
  const { identityId } = identity
  const key = await (at ? store.findKeyAt(db, identityId, at) : store.findCurrentKey(db, identityId))
  if (!key) throw errors.no_signing_key()
  return {
    handle: identity.handle,
    publicKey: toBase64(key.publicKey),
    createdAt: key.createdAt.toISOString(),
    endedAt: key.endedAt?.toISOString() ?? null,
    keyVersion: key.keyVersion,
  }
}

/** Lists the signing keys of an identity, oldest first. */
export async function listSigningKeys(db: Database, identityId: IdentityId) {
  const keys = await store.listKeys(db, identityId)
  return keys.map(({ keyVersion, publicKey, encryptedPrivateKey, createdAt, endedAt }) => ({
    keyVersion,
    publicKey: toBase64(publicKey),
    encryptedPrivateKey,
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  }))
}

/**
 * Deletes the keys of identities that are being deleted. The owner of each public key stays recorded, so that no other
 * identity can ever use it.
 */
export async function deleteSigningKeys(tx: Transaction, identityIds: IdentityId[], now: Date): Promise<void> {
  await appendKeyRemovals(tx, identityIds, now)
  await store.deleteKeys(tx, identityIds)
}

/** Builds the owner's view of an identity's current key from all its keys, oldest first. */
export function toRecord(handle: string, keys: store.StoredKey[]): SigningKey {
  const [first, current] = [keys[0], keys.at(-1)]
  if (!first || !current?.encryptedPrivateKey) throw new Error('signing key record needs at least one key')
  return {
    identityId: current.identityId,
    handle,
    hasKey: true,
    publicKey: toBase64(current.publicKey),
    encryptedPrivateKey: current.encryptedPrivateKey,
    createdAt: first.createdAt.toISOString(),
    rotatedAt: current.keyVersion > first.keyVersion ? current.createdAt.toISOString() : null,
    keyVersion: current.keyVersion,
    former: keys.toReversed().flatMap(({ keyVersion, publicKey, createdAt, endedAt }) => {
      const since = createdAt.toISOString()
      return endedAt
        ? [{ keyVersion, publicKey: toBase64(publicKey), createdAt: since, endedAt: endedAt.toISOString() }]
        : []
    }),
  }
}

/** Parses an Ed25519 public key. Throws `invalid_public_key` for a text or a point that is not canonical. */
export function parseSigningPublicKey({ publicKey }: Pick<NewKeyPair, 'publicKey'>): Uint8Array {
  const bytes = fromCanonicalBase64(publicKey)
  if (!bytes || !isValidCurvePoint(bytes)) throw errors.invalid_public_key()
  return bytes
}

/** Reason why a signature is invalid. The two for malformed parts are found before the signature is verified. */
export type SignatureError = 'malformed_public_key' | 'malformed_signature' | 'invalid_signature'

type Claim = { message: string; signature: string; publicKey: string }

/** Finds what is wrong with a base64 signature over the UTF-8 bytes of a message; returns undefined if it is valid. */
export function findSignatureError({ message, signature, publicKey }: Claim): SignatureError | undefined {
  const key = fromCanonicalBase64(publicKey)
  if (!key || !isValidPublicKey(key)) return 'malformed_public_key'
  const bytes = fromCanonicalBase64(signature)
  if (!bytes || !isCanonicalSignature(bytes)) return 'malformed_signature'
  if (verifies(Buffer.from(message, 'utf8'), bytes, key)) return undefined
  return isValidCurvePoint(key) ? 'invalid_signature' : 'malformed_public_key'
}
