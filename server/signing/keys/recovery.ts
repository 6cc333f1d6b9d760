import type { RecoveredSigningKey } from '@countersign/protocol/signing/key-reset'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import type { LoggedSigningKey } from '@countersign/protocol/signing/keys'
import { keepFormer } from '#accounts/keys/former-key.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { defineErrors } from '#platform/api-error.ts'
import { maxDate } from '#platform/clock.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { readKeyChain } from './adoption.ts'
import { insertSigningKey, parseSigningPublicKey } from './key.ts'
import { toRecord } from './key-record.ts'
import * as store from './store.ts'

const errors = defineErrors({
  keys_changed: [409, 'The keys of the account are others than those to reset. Read them again.'],
})

type KeyTransaction = { tx: Transaction; keyring: ServerContext['keyring'] }
type Losing = {
  userId: UserId
  identityId: IdentityId
  handle: string
  signingKey: RecoveredSigningKey | undefined
}

/**
 * Replaces the signing key of a locked identity, which its user has lost, by one that nothing links to it. Keeps the
 * private half with the former keys. Returns undefined if the identity has no key, and none is given. Throws
 * `keys_changed`, `invalid_public_key`, `key_in_use`, `key_used_before`, `too_many_keys`, `key_history_changed` and
 * `invalid_possession`.
 */
export async function recoverSigningKey(
  { tx, keyring }: KeyTransaction,
  { userId, identityId, handle, signingKey }: Losing,
  now: Date,
): Promise<LoggedSigningKey | undefined> {
  const keys = await store.listKeys(tx, identityId)
  const current = keys.at(-1)
  if ((current === undefined) !== (signingKey === undefined)) throw errors.keys_changed()
  if (!current || !signingKey) return undefined
  // Never earlier than the current key: another process with a faster clock may have created it.
  const at = maxDate(now, current.createdAt)
  if (!(await store.endKey(tx, current, at))) throw errors.keys_changed()
  const former = keys.flatMap(({ keyVersion, encryptedPrivateKey }) =>
    encryptedPrivateKey === null ? [] : [{ reference: String(keyVersion), ciphertext: encryptedPrivateKey }],
  )
  await keepFormer(
    tx,
    userId,
    former.map((row) => ({ kind: 'signing_key' as const, identityId, ...row })),
    now,
  )
  const { encryptedPrivateKey, previous, possession } = signingKey
  const keyVersion = current.keyVersion + 1
  const next = { identityId, keyVersion, publicKey: parseSigningPublicKey(signingKey), encryptedPrivateKey }
  const made = { ...next, event: 'recovered' as const, formerPublicKey: current.publicKey, recoveredAt: at }
  const logEntry = await insertSigningKey({ tx, keyring }, made, { previous, possession }, at)
  // The master key in force opens no private half of before.
  await store.forgetPrivateHalves(tx, { identityId, keyVersion })
  const event = { action: 'signing_key.recovered', actor: 'user', userId, identityId } as const
  await recordAuditEvent(tx, { ...event, details: { keyVersion } }, now)
  const stored = await store.listKeys(tx, identityId)
  return { ...toRecord(handle, stored), chain: await readKeyChain(tx, identityId, stored), logEntry }
}
