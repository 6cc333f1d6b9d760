import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { rotationMessage } from '@countersign/protocol/formats/messages/messages'
import type { IdentityId } from '@countersign/protocol/ids'
import type { LoggedSigningKey, Rotation } from '@countersign/protocol/signing/keys'
import { lockOwnIdentity, requireOwnIdentity } from '#accounts/identities/identity.ts'
import type { Transaction } from '#platform/database/database.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { maxDate } from '#platform/clock.ts'
import { verifies } from '#platform/crypto/ed25519.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { requireRecentAuthentication, type PasskeySession } from '#accounts/sessions/session.ts'
import { readKeyChain } from './adoption.ts'
import { insertSigningKey, parseSigningPublicKey } from './key.ts'
import { toRecord } from './key-record.ts'
import { readRotationProofs } from './proof.ts'
import * as store from './store.ts'
import type { StoredKey } from './store.ts'

const errors = defineErrors({
  invalid_rotation_signature: [403, 'rotationSignature does not verify with the current signing key.'],
  no_signing_key: [404, 'The identity has no signing key yet. Create one first.'],
  key_changed: [409, 'The signing key was rotated in the meantime. Read the current key and try again.'],
})

/** Signing requests that are pending for a replaced key. */
export type OldKeyRequests = {
  /** Expires all pending requests of an identity and returns their IDs. */
  expirePending: (tx: Transaction, identityId: IdentityId, now: Date) => Promise<string[]>
  /** Notifies the waiting callers in this process. */
  settled: (requestIds: string[]) => void
}

type RotationDeps = Pick<ServerContext, 'db' | 'keyring' | 'rateLimits'> & {
  ofOldKey: Pick<OldKeyRequests, 'expirePending'>
}

/**
 * Replaces the key of an identity by a new key that the current one has signed. Signing requests pending for the old
 * key expire with it.
 *
 * Throws `identity_not_found`, `reauthentication_required`, `no_signing_key`, `invalid_public_key`,
 * `invalid_rotation_signature`, `key_changed`, `key_in_use`, `key_used_before`, `too_many_keys`, `rate_limited`, and
 * the errors of `requireValidProofs`.
 */
export async function rotateKey(
  { db, keyring, rateLimits, ofOldKey }: RotationDeps,
  session: PasskeySession,
  { identityId, ...rotation }: Rotation & { identityId: IdentityId },
  now: Date,
): Promise<{ key: LoggedSigningKey; expired: string[] }> {
  const { userId } = session
  await requireOwnIdentity(db, session, identityId, now)
  requireRecentAuthentication(session, now)
  const { encryptedPrivateKey } = rotation
  const keysBefore = await store.listKeys(db, identityId)
  if (keysBefore.length === 0) throw errors.no_signing_key()
  const publicKey = parseSigningPublicKey(rotation)
  const proofs = readRotationProofs(rotation)
  requireSigned(keysBefore, { identityId, ...rotation })
  // Every rotation is a permanent leaf in the log. Only rotations signed by the key count: an attacker with a session
  // alone must not keep its owner from replacing the key.
  await rateLimits.count('signing-key-rotations-per-identity', identityId)
  return actingTransaction(db, session, async (tx) => {
    const { handle } = await lockOwnIdentity(tx, session, identityId, now)
    const keys = await store.listKeys(tx, identityId)
    const current = keys.at(-1)
    if (!current) throw errors.no_signing_key()
    const rotationSignature = requireSigned(keys, { identityId, ...rotation })

    // Never earlier than the current key: another process with a faster clock may have created it.
    const at = maxDate(now, current.createdAt)
    if (!(await store.endKey(tx, current, at))) throw errors.key_changed()
    await store.forgetPrivateHalves(tx, current)
    const keyVersion = current.keyVersion + 1
    const next = { identityId, keyVersion, publicKey, encryptedPrivateKey, rotationSignature }
    const { publicKey: formerPublicKey, recoveredAt } = current
    const logEntry = await insertSigningKey({ tx, keyring }, { ...next, formerPublicKey, recoveredAt }, proofs, at)
    const expired = await ofOldKey.expirePending(tx, identityId, now)
    const details = { keyVersion, expiredRequests: expired.length }
    await recordAuditEvent(tx, { action: 'signing_key.rotated', actor: 'user', userId, identityId, details }, now)
    const stored = await store.listKeys(tx, identityId)
    const chain = await readKeyChain(tx, identityId, stored)
    return { key: { ...toRecord(handle, stored), chain, logEntry }, expired }
  })
}

/**
 * Returns the signature. Throws `key_changed` if a former key has signed, `invalid_rotation_signature` if none of the
 * keys has.
 */
function requireSigned(
  keys: StoredKey[],
  { rotationSignature, ...rotation }: Rotation & { identityId: IdentityId },
): Uint8Array {
  const signature = fromCanonicalBase64(rotationSignature)
  const message = Buffer.from(rotationMessage(rotation), 'utf8')
  const signer = signature && keys.findLast(({ publicKey }) => verifies(message, signature, publicKey))
  if (!signer) throw errors.invalid_rotation_signature()
  if (signer !== keys.at(-1)) throw errors.key_changed()
  return signature
}
