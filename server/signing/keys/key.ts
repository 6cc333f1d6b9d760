import { type Database, type Transaction, isUniqueViolation, snapshot } from '#platform/database/database.ts'
import type { RegistrationPart } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { appendKeyEvent, getKeyChain, logKeyEvent } from '#signing/transparency/event.ts'
import { getLog } from '#signing/transparency/log.ts'
import { readKeyChain } from './adoption.ts'
import { toRecord } from './key-record.ts'
import { noProofs, requireValidProofs, type SentKeyProofs } from './proof.ts'
import * as store from './store.ts'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { NewKeyPair } from '@countersign/protocol/accounts/keys'
import { limits } from '@countersign/protocol/formats/limits'
import type * as requests from '@countersign/protocol/signing/keys'
import type { LoggedSigningKey, SigningKey } from '@countersign/protocol/signing/keys'
import type { PromisedKeyEvent } from '@countersign/protocol/signing/transparency'
import { findByHandleAt } from '#accounts/identities/handle.ts'
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
    await appendKeyEvent(tx, chain, { event: 'removed', keyVersion, publicKey, ...noProofs }, now)
  }
}

const errors = defineErrors({
  invalid_public_key: [400, 'publicKey must be a canonical Ed25519 public key in canonical base64.'],
  identity_not_found: [404, 'No identity has this handle.'],
  no_signing_key: [404, 'The identity has no signing key.'],
  key_exists: [409, 'The identity already has a signing key. Rotate it instead.'],
  key_in_use: [409, 'This signing key belongs to another identity.'],
  key_used_before: [409, 'This identity has used this signing key before.'],
  too_many_keys: [409, 'The identity has had the maximum number of signing keys.'],
})

/** Key pair as it is stored; `parseSigningPublicKey` returns the public key. */
export type NewSigningKey = { identityId: IdentityId; publicKey: Uint8Array; encryptedPrivateKey: string }

/** Key deps: the key of the log promises the inclusion of a new key. */
type KeyTransaction = { tx: Transaction; keyring: ServerContext['keyring'] }

/** Finds the current signing key of an identity. */
export function findCurrentKey(db: Database, identityId: IdentityId): Promise<store.StoredKey | undefined> {
  return store.findCurrentKey(db, identityId)
}

/** Signing key of a registration. The browser gets the log's name before it creates the passkey. */
export const firstSigningKey: RegistrationPart = {
  async started({ db }) {
    return { log: (await getLog(db)).origin }
  },
  /** Throws `invalid_public_key`; when it is stored, `key_in_use` and `invalid_possession`. */
  finished({ keyring }, { signingKey }) {
    if (!signingKey) return undefined
    const key = { ...signingKey, publicKey: parseSigningPublicKey(signingKey) }
    return async (tx, { identityId }, now) => ({
      logEntry: await createFirstSigningKey({ tx, keyring }, { ...key, identityId }, now),
    })
  },
}

type FirstKey = NewSigningKey & { possession?: string | undefined }

/** Stores the first signing key of a new identity. Throws `key_in_use`, `invalid_possession`. */
async function createFirstSigningKey(
  deps: KeyTransaction,
  { possession, ...key }: FirstKey,
  now: Date,
): Promise<PromisedKeyEvent> {
  const sent = possession === undefined ? undefined : { possession }
  return insertSigningKey(deps, { ...key, keyVersion: 1, formerPublicKey: undefined }, sent, now)
}

/**
 * Makes a key the current one of its identity, and returns its log entry. Throws `key_in_use`, `key_used_before`,
 * `too_many_keys`, and the errors of `requireValidProofs`.
 */
export async function insertSigningKey(
  { tx, keyring }: KeyTransaction,
  {
    formerPublicKey,
    event = formerPublicKey ? 'rotated' : 'created',
    ...key
  }: NewSigningKey & {
    keyVersion: number
    formerPublicKey: Uint8Array | undefined
    rotationSignature?: Uint8Array
    /** When this key, or the last such before it, replaced a lost one. */
    recoveredAt?: Date | null
    event?: 'created' | 'rotated' | 'recovered'
  },
  sent: (SentKeyProofs & { possession: string }) | undefined,
  now: Date,
): Promise<PromisedKeyEvent> {
  const { identityId, keyVersion, publicKey } = key
  if (keyVersion > limits.signingKeysMax) throw errors.too_many_keys()
  const owner = await store.findKeyOwner(tx, publicKey)
  if (owner) throw owner.identityId === identityId ? errors.key_used_before() : errors.key_in_use()
  const chain = await getKeyChain(tx, identityId)
  const proved = { ...chain, event, keyVersion, publicKey: toBase64(publicKey) }
  const proofs = sent ? requireValidProofs(sent, { log: chain.log.origin, event: proved, formerPublicKey }) : noProofs
  try {
    await store.insertKeyOwner(tx, publicKey, identityId)
  } catch (error) {
    throw isUniqueViolation(error, 'signing_key_owner_pkey') ? errors.key_in_use() : error
  }
  await store.insertKey(tx, key, now)
  return logKeyEvent({ tx, keyring }, chain, { event, keyVersion, publicKey, ...proofs }, now)
}

/**
 * Creates the first key of an identity. Throws `identity_not_found`, `reauthentication_required`, `invalid_public_key`,
 * `invalid_possession`, `key_exists`, `key_in_use`, `key_used_before`.
 */
export async function createKey(
  { db, keyring }: Pick<ServerContext, 'db' | 'keyring'>,
  session: PasskeySession,
  { publicKey, ...input }: requests.NewSigningKey & { identityId: IdentityId },
  now: Date,
): Promise<LoggedSigningKey> {
  const { userId } = session
  const { identityId } = input
  await requireOwnIdentity(db, session, identityId, now)
  requireRecentAuthentication(session, now)
  const key = { ...input, publicKey: parseSigningPublicKey({ publicKey }) }
  return actingTransaction(db, session, async (tx) => {
    const { handle } = await lockOwnIdentity(tx, session, identityId, now)
    if (await store.findCurrentKey(tx, identityId)) throw errors.key_exists()
    const logEntry = await createFirstSigningKey({ tx, keyring }, key, now)
    await recordAuditEvent(tx, { action: 'signing_key.created', actor: 'user', userId, identityId }, now)
    const keys = await store.listKeys(tx, identityId)
    return { ...toRecord(handle, keys), chain: await readKeyChain(tx, identityId, keys), logEntry }
  })
}

/** Lists the current keys of a user's identities. */
export async function listKeyRecords(db: Database, userId: UserId): Promise<SigningKey[]> {
  const byIdentity = Map.groupBy(await store.listKeysOfUser(db, userId), ({ identityId }) => identityId)
  return [...byIdentity.values()].map((keys) => toRecord(keys[0]?.handle ?? '', keys))
}

/** Returns the current key of an identity, or that it has none. Throws `identity_not_found`. */
export async function getSigningKey(db: Database, session: PasskeySession, identityId: IdentityId, now: Date) {
  const { handle } = await requireOwnIdentity(db, session, identityId, now)
  // A rotation between the two reads would give one key, and the chain after the next.
  const { keys, chain } = await snapshot(db, async (tx) => {
    const found = await store.listKeys(tx, identityId)
    return { keys: found, chain: await readKeyChain(tx, identityId, found) }
  })
  return keys.length > 0 ? { ...toRecord(handle, keys), chain } : { identityId, handle, hasKey: false as const, chain }
}

/** Whose key to look up, and when. `knownId` is the identity, if the caller knows it. */
type KeyLookup = { handle: string; at: Date | undefined; knownId: IdentityId | undefined }

/**
 * Returns the public key of an identity, now or at an instant; needs no authentication. A handle names only the
 * identity that had it at that instant, unless the caller knows its present identity. For a released handle, the
 * present one is not returned. Throws `identity_not_found`, `no_signing_key`.
 */
export async function getPublicKeyByHandle(db: Database, { handle, at, knownId }: KeyLookup, now: Date) {
  const present = await findByHandle(db, handle)
  const identity = at && !(present && knownId) ? await findByHandleAt(db, handle, at, now) : present
  if (!identity && present) throw noKey(at)
  if (!identity || (knownId && knownId !== identity.identityId)) throw errors.identity_not_found()
  const { identityId } = identity
  const key = await (at ? store.findKeyAt(db, identityId, at) : store.findCurrentKey(db, identityId))
  if (!key) throw noKey(at)
  return {
    handle: identity.handle,
    publicKey: toBase64(key.publicKey),
    createdAt: key.createdAt.toISOString(),
    endedAt: key.endedAt?.toISOString() ?? null,
    keyVersion: key.keyVersion,
    recoveredAt: key.recoveredAt?.toISOString() ?? null,
  }
}

function noKey(at: Date | undefined) {
  return errors.no_signing_key(at && { sentence: 'The identity had no signing key at that time.' })
}

/** Lists the signing keys of an identity, oldest first. */
export async function listSigningKeys(db: Database, identityId: IdentityId) {
  const keys = await store.listKeys(db, identityId)
  return keys.map(({ keyVersion, publicKey, encryptedPrivateKey, createdAt, endedAt, rotationSignature }) => ({
    keyVersion,
    rotationSignature: rotationSignature && toBase64(rotationSignature),
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
