import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { rotationMessage } from '@countersign/protocol/formats/signing/signing-key-rotation'
import type { Rotation, SigningKey } from '@countersign/protocol/signing/signing'
import { holdOwnIdentity, requireOwnIdentity } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import { laterOf } from '#platform/clock.ts'
import { verifies } from '#platform/crypto/ed25519.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { requireFresh, type Session } from '#accounts/sessions/session.ts'
import { enrolKey, readPublicKey, toRecord } from './key.ts'
import * as store from './store.ts'
import type { StoredKey } from './store.ts'
import { expirePending } from '#signing/requests/request.ts'

const refuse = refusals({
  invalid_rotation_signature: [403, 'The current key has not signed this new key.'],
  no_signing_key: [404, 'This identity has no signing key yet.'],
  key_changed: [409, 'The key that signed this has been rotated meanwhile. Read the current one.'],
})

/**
 * Replaces the key of an identity by one that it has signed; requests that wait for a signature of the old one expire
 * with it. Refuses `identity_not_found`, `reauthentication_required`, `no_signing_key`, `invalid_public_key`,
 * `invalid_rotation_signature`, `key_changed`, `key_in_use`, `key_used_before`, `rate_limited`.
 */
export async function rotateKey(
  kernel: Pick<Kernel, 'db' | 'rateLimits'>,
  session: Session,
  { identityId, ...rotation }: Rotation & { identityId: string },
  now: Date,
): Promise<{ key: SigningKey; expired: string[] }> {
  const { db, rateLimits } = kernel
  const { userId } = session
  await requireOwnIdentity(db, session, identityId)
  requireFresh(session, now)
  const { encryptedPrivateKey } = rotation
  const keysBefore = await store.listKeys(db, identityId)
  if (keysBefore.length === 0) throw refuse.no_signing_key()
  const publicKey = readPublicKey(rotation)
  requireSigned(keysBefore, { identityId, ...rotation })
  // Every rotation is a leaf in the log for ever. Only what the key has signed counts: who has a session alone must not
  // keep its owner from replacing the key.
  await rateLimits.count('signing key rotation of an identity', identityId)
  return actingTransaction(db, session, async (tx) => {
    const { handle } = await holdOwnIdentity(tx, session, identityId)
    const keys = await store.listKeys(tx, identityId)
    const current = keys.at(-1)
    if (!current) throw refuse.no_signing_key()
    requireSigned(keys, { identityId, ...rotation })

    // Never before it began: another process may have made it, whose clock is ahead.
    const at = laterOf(now, current.createdAt)
    if (!(await store.endKey(tx, current, at))) throw refuse.key_changed()
    await store.forgetPrivateHalves(tx, current)
    const keyVersion = current.keyVersion + 1
    await enrolKey(tx, { identityId, keyVersion, publicKey, encryptedPrivateKey }, at)
    const expired = await expirePending(tx, identityId, now)
    const details = { keyVersion, expiredRequests: expired.length }
    await record(tx, { action: 'signing_key.rotated', actor: 'person', userId, identityId, details }, now)
    return { key: toRecord(handle, await store.listKeys(tx, identityId)), expired }
  })
}

/** Refuses `key_changed` where a former key has signed, `invalid_rotation_signature` where none has. */
function requireSigned(keys: StoredKey[], { rotationSignature, ...rotation }: Rotation & { identityId: string }): void {
  const signature = fromCanonicalBase64(rotationSignature)
  const message = Buffer.from(rotationMessage(rotation), 'utf8')
  const signer = signature && keys.findLast(({ publicKey }) => verifies(message, signature, publicKey))
  if (!signer) throw refuse.invalid_rotation_signature()
  if (signer !== keys.at(-1)) throw refuse.key_changed()
}
