import { toBase64 } from '@countersign/protocol/formats/base64'
import type { KeyEvent } from '@countersign/protocol/formats/signing/key-event'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Adoption, KeyChain, LoggedSigningKey } from '@countersign/protocol/signing/keys'
import { lockOwnIdentity } from '#accounts/identities/identity.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { getKeyChain, logKeyEvent, type KeyChainEnd } from '#signing/transparency/event.ts'
import { toRecord } from './key-record.ts'
import { requireValidProofs } from './proof.ts'
import * as store from './store.ts'

const errors = defineErrors({
  no_signing_key: [404, 'The identity has no signing key yet. Create one first.'],
  key_already_proved: [409, 'The signing key has its proofs, or was adopted before.'],
})

/**
 * Proves the current key of an identity, which a client made without proofs: its owner signs that they hold it, and
 * their former key that it is its successor. The signatures alone authorize this, once for each key: without the link,
 * the break stays.
 *
 * Throws `identity_not_found`, `no_signing_key`, `key_already_proved`, `key_history_changed`, `invalid_link`,
 * `invalid_possession`.
 */
export async function adoptKey(
  { db, keyring }: Pick<ServerContext, 'db' | 'keyring'>,
  session: PasskeySession,
  { identityId, ...proofs }: Adoption & { identityId: IdentityId },
  now: Date,
): Promise<LoggedSigningKey> {
  return actingTransaction(db, session, async (tx) => {
    const { handle } = await lockOwnIdentity(tx, session, identityId, now)
    const keys = await store.listKeys(tx, identityId)
    const [former, current] = [keys.at(-2), keys.at(-1)]
    if (!current) throw errors.no_signing_key()
    const chain = await getKeyChain(tx, identityId)
    if (!chain.last || !isAdoptable(chain.last)) throw errors.key_already_proved()

    const { keyVersion, publicKey } = current
    const event = { ...chain, event: 'adopted' as const, keyVersion, publicKey: toBase64(publicKey) }
    const proved = { log: chain.log.origin, event, formerPublicKey: former?.publicKey }
    const adopted = { event: 'adopted' as const, keyVersion, publicKey, ...requireValidProofs(proofs, proved) }
    const logEntry = await logKeyEvent({ tx, keyring }, chain, adopted, now)
    const { userId } = session
    const details = { keyVersion, linked: proofs.link !== undefined }
    await recordAuditEvent(tx, { action: 'signing_key.adopted', actor: 'user', userId, identityId, details }, now)
    return { ...toRecord(handle, keys), chain: toKeyChain(await getKeyChain(tx, identityId), keys), logEntry }
  })
}

/** Returns what the next log entry of an identity follows, and whether its current key can be adopted. */
export async function readKeyChain(db: Database, identityId: IdentityId, keys: store.StoredKey[]): Promise<KeyChain> {
  return toKeyChain(await getKeyChain(db, identityId), keys)
}

function toKeyChain({ log, previous, last }: KeyChainEnd, keys: store.StoredKey[]): KeyChain {
  const chain = { log: log.origin, previous }
  if (!last || !isAdoptable(last)) return chain
  const former = keys.at(-2)
  // The private half of the key before is deleted at the next rotation: until then, it can sign the link.
  if (isLinked(last) || !former?.encryptedPrivateKey) return { ...chain, adoption: {} }
  const { publicKey, encryptedPrivateKey } = former
  return { ...chain, adoption: { former: { publicKey: toBase64(publicKey), encryptedPrivateKey } } }
}

/** A key can be adopted while its own entry is the last one, and lacks a proof. */
function isAdoptable(last: KeyEvent): boolean {
  const isOfKey = last.event === 'created' || last.event === 'rotated'
  return isOfKey && (last.possession === null || !isLinked(last))
}

function isLinked({ keyVersion, link }: KeyEvent): boolean {
  return keyVersion === 1 || link !== null
}
