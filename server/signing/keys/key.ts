import { ed25519 } from '@noble/curves/ed25519.js'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { NewKeyPair } from '@countersign/protocol/accounts/keys'
import type { SigningKey } from '@countersign/protocol/signing/signing'
import { findByHandle, holdOwnIdentity, requireOwnIdentity } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import { isTaken, type Database, type Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { requireFresh, type Session } from '#accounts/sessions/session.ts'
import { logKeys, logRemoval } from './key-log.ts'
import * as store from './store.ts'

const refuse = refusals({
  invalid_public_key: [400, 'The signing key is not a canonical Ed25519 public key in canonical base64.'],
  identity_not_found: [404, 'No identity has this handle.'],
  no_signing_key: [404, 'This identity had no signing key at that time.'],
  key_exists: [409, 'This identity has a signing key. It can be rotated.'],
  key_in_use: [409, 'This signing key belongs to another identity.'],
  key_used_before: [409, 'This identity had this signing key before.'],
})

/** A key pair as it is stored: the public half comes from `readPublicKey`. */
export type EnrolledKey = { identityId: string; publicKey: Uint8Array; encryptedPrivateKey: string }

/** Enrols the first signing key of a new identity. Refuses `key_in_use`. */
export async function enrolFirstKey(tx: Transaction, key: EnrolledKey, now: Date): Promise<void> {
  await enrolKey(tx, { ...key, keyVersion: 1 }, now)
}

/** Makes a key the current one of its identity. Refuses `key_in_use`, `key_used_before`. */
export async function enrolKey(tx: Transaction, key: EnrolledKey & { keyVersion: number }, now: Date): Promise<void> {
  const owner = await store.findKeyOwner(tx, key.publicKey)
  if (owner) throw owner.identityId === key.identityId ? refuse.key_used_before() : refuse.key_in_use()
  try {
    await store.insertKeyOwner(tx, key.publicKey, key.identityId)
  } catch (error) {
    throw isTaken(error, 'signing_key_owner_pkey') ? refuse.key_in_use() : error
  }
  await store.insertKey(tx, key, now)
  await logKeys(tx, [key.identityId], now)
}

/**
 * Gives an identity its first key. Refuses `identity_not_found`, `reauthentication_required`, `invalid_public_key`,
 * `key_exists`, `key_in_use`, `key_used_before`.
 */
export async function createKey(
  db: Database,
  session: Session,
  { identityId, publicKey, encryptedPrivateKey }: NewKeyPair & { identityId: string },
  now: Date,
): Promise<SigningKey> {
  const { userId } = session
  await requireOwnIdentity(db, session, identityId)
  requireFresh(session, now)
  const key = { identityId, publicKey: readPublicKey({ publicKey }), encryptedPrivateKey }
  return actingTransaction(db, session, async (tx) => {
    const { handle } = await holdOwnIdentity(tx, session, identityId)
    if (await store.findCurrentKey(tx, identityId)) throw refuse.key_exists()
    await enrolFirstKey(tx, key, now)
    await record(tx, { action: 'signing_key.created', actor: 'person', userId, identityId }, now)
    return toRecord(handle, await store.listKeys(tx, identityId))
  })
}

/** The current key of each identity of a person that has one. */
export async function listKeyRecords(db: Database, userId: string): Promise<SigningKey[]> {
  const byIdentity = Map.groupBy(await store.listKeysOfUser(db, userId), ({ identityId }) => identityId)
  return [...byIdentity.values()].map((keys) => toRecord(keys[0]?.handle ?? '', keys))
}

/** The current key of one identity, where it has one. Refuses `identity_not_found`. */
export async function readKeyRecord(db: Database, session: Session, identityId: string) {
  const { handle } = await requireOwnIdentity(db, session, identityId)
  const keys = await store.listKeys(db, identityId)
  return keys.length > 0 ? toRecord(handle, keys) : { identityId, handle, hasKey: false as const }
}

/** What anybody may know of an identity's key, now or at an instant. Refuses `identity_not_found`, `no_signing_key`. */
export async function lookUpPublicKey(db: Database, handle: string, at: Date | undefined) {
  const identity = await findByHandle(db, handle)
  if (!identity) throw refuse.identity_not_found()
  const { identityId } = identity
  const key = await (at ? store.findKeyAt(db, identityId, at) : store.findCurrentKey(db, identityId))
  if (!key) throw refuse.no_signing_key()
  return {
    handle: identity.handle,
    publicKey: toBase64(key.publicKey),
    createdAt: key.createdAt.toISOString(),
    endedAt: key.endedAt?.toISOString() ?? null,
    keyVersion: key.keyVersion,
  }
}

/** The signing keys of an identity, the first one first. */
export async function listSigningKeys(db: Database, identityId: string) {
  const keys = await store.listKeys(db, identityId)
  return keys.map(({ keyVersion, publicKey, encryptedPrivateKey, createdAt, endedAt }) => ({
    keyVersion,
    publicKey: toBase64(publicKey),
    encryptedPrivateKey,
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  }))
}

/** Forgets the keys of identities that are going. Whose they were stays on record: nobody else may ever hold one. */
export async function forgetSigningKeys(tx: Transaction, identityIds: string[], now: Date): Promise<void> {
  await logRemoval(tx, identityIds, now)
  await store.deleteKeys(tx, identityIds)
}

/** An identity's current key, as its owner sees it, from all that it has had, the first one first. */
export function toRecord(handle: string, keys: store.StoredKey[]): SigningKey {
  const [first, current] = [keys[0], keys.at(-1)]
  if (!first || !current?.encryptedPrivateKey) throw new Error('an identity without a key has no record of one')
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
