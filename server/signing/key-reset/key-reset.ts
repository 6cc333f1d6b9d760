import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import type { KeyReset } from '@countersign/protocol/signing/key-reset'
import type { LoggedSigningKey } from '@countersign/protocol/signing/keys'
import { listIdentities, lockIdentity } from '#accounts/identities/identity.ts'
import { isSuspendedIdentity, lockAccountOfIdentity } from '#accounts/identities/suspension.ts'
import { replaceUserKeys } from '#accounts/keys/former-key.ts'
import { consumeKeyReset } from '#accounts/keys/key-reset.ts'
import { listKeyWraps, validateKeyWraps } from '#accounts/keys/key-wrap.ts'
import { presenceTransaction, verifyPresence } from '#accounts/passkeys/assertion.ts'
import { consumeFlow, findFlow, type FlowClient } from '#accounts/passkeys/ceremony.ts'
import { listPasskeys } from '#accounts/passkeys/passkey.ts'
import { notifyOfKeyReset } from '#accounts/recovery-links/notice.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { recoverSigningKey } from '#signing/keys/recovery.ts'

const errors = defineErrors({
  invalid_request: [400, 'keyWrap must be for the passkey of credential, and each identity can appear only once.'],
  invalid_credential: [401, 'The passkey is unknown or its signature is invalid. Try another one.'],
  keys_not_resettable: [409, 'Only a passkey that a recovery link brought resets the keys, once, after the hold.'],
  keys_changed: [409, 'The account has other identities than those to reset. Read them again.'],
  identity_suspended: [409, 'An identity of the account is suspended.'],
})

type Services = { kernel: ServerContext; lifecycle: Lifecycle }
type Acting = { session: PasskeySession; client: FlowClient }
type Reset = { keyWraps: KeyWrap[]; signingKeys: LoggedSigningKey[] }

/**
 * Replaces all keys of an account by ones of a new master key, after a recovery that has settled without the recovery
 * code or another passkey. The passkey that the link brought proves presence for this request, so that a session alone
 * is not enough. It can do so once. What the former master key opens is kept.
 *
 * Throws `invalid_request`, `invalid_flow`, `invalid_credential`, `keys_not_resettable`, `keys_changed`,
 * `identity_suspended`, `self_record_changed`, `unauthorized`, and the errors of `recoverSigningKey`.
 */
export async function resetKeys(
  { kernel, lifecycle }: Services,
  { session, client }: Acting,
  reset: KeyReset,
): Promise<Reset> {
  const now = kernel.clock()
  const { userId } = session
  const { flowId, credential, keyWrap } = reset
  const ids = reset.identities.map(({ identityId }) => identityId)
  const isOfAnother = keyWrap !== undefined && keyWrap.credentialId !== credential.id
  if (isOfAnother || new Set(ids).size < ids.length) throw errors.invalid_request()
  if (keyWrap) validateKeyWraps([keyWrap])
  const flow = await findFlow(kernel.db, 'reauthenticate', { flowId, client }, now)
  if (flow.userId !== userId) throw errors.invalid_credential()
  const presence = await verifyPresence(kernel, session, { credential, challenge: flow.challenge })
  const done = await presenceTransaction(kernel, { session, presence }, now, async (tx) => {
    await consumeFlow(tx, 'reauthenticate', { flowId, client }, now)
    return replaceAll(tx, { kernel, lifecycle }, { userId, reset }, now)
  })
  if (!done) throw errors.keys_not_resettable()
  await notifyOfKeyReset(kernel, userId)
  return done
}

async function replaceAll(
  tx: Transaction,
  { kernel: { keyring }, lifecycle }: Services,
  { userId, reset }: { userId: UserId; reset: KeyReset },
  now: Date,
): Promise<Reset> {
  const { credential, keyWrap, recoveryCode, selfRecord } = reset
  const since = await consumeKeyReset(tx, { userId, credentialId: credential.id })
  if (!since || (await hasUnlocked(tx, userId, since))) throw errors.keys_not_resettable()
  const { identities } = reset
  const identityIds = await lockAll(tx, { userId, identities }, now)
  await lifecycle.end(tx, 'keys', { userId, identityIds }, now)
  const signingKeys: LoggedSigningKey[] = []
  for (const { identityId, signingKey } of identities) {
    const handle = (await lockIdentity(tx, identityId))?.handle ?? ''
    const made = await recoverSigningKey({ tx, keyring }, { userId, identityId, handle, signingKey }, now)
    if (made) signingKeys.push(made)
  }
  await replaceUserKeys(tx, { userId, keyWrap, recoveryCode, selfRecord, identities }, now)
  await recordAuditEvent(tx, { action: 'account.keys.reset', actor: 'user', userId }, now)
  return { keyWraps: await listKeyWraps(tx, userId), signingKeys }
}

/** Checks whether a passkey that unlocks the keys was used since an instant: its user has not lost them. */
async function hasUnlocked(tx: Transaction, userId: UserId, since: Date): Promise<boolean> {
  const passkeys = await listPasskeys(tx, userId)
  return passkeys.some(({ opensKeys, lastUsedAt }) => opensKeys && new Date(lastUsedAt) > since)
}

type Named = { userId: UserId; identities: { identityId: IdentityId }[] }

/** Locks all identities of an account, which must be these. Throws `keys_changed` and `identity_suspended`. */
async function lockAll(tx: Transaction, { userId, identities }: Named, now: Date): Promise<IdentityId[]> {
  // By an identity of the user, whose account this transaction has locked already, and not by one of the request.
  const [first] = await listIdentities(tx, userId)
  const account = first && (await lockAccountOfIdentity(tx, first.identityId))
  if (account?.userId !== userId) throw errors.keys_changed()
  const named = new Set(identities.map(({ identityId }) => identityId))
  if (named.size !== account.identityIds.length || account.identityIds.some((each) => !named.has(each)))
    throw errors.keys_changed()
  for (const identityId of account.identityIds)
    if (await isSuspendedIdentity(tx, identityId, now)) throw errors.identity_suspended()
  return account.identityIds
}
