import type { EncryptionMode, SealedAppKey } from '@countersign/protocol/oauth/app-keys'
import { toBase64 } from '@countersign/protocol/formats/base64'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { equalBytes } from '#platform/crypto/secret.ts'
import { defineErrors } from '#platform/api-error.ts'
import { lockOwnIdentity } from '#accounts/identities/identity.ts'
import { keepFormer } from '#accounts/keys/former-key.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import {
  requireRecentAuthentication,
  type PasskeySession,
  type Session,
  type RecoveredSession,
} from '#accounts/sessions/session.ts'
import * as store from './store.ts'
import type { AppKey, AppKeyQuery } from './store.ts'

export { type AppKey, deleteAppKeys, listAppKeys } from './store.ts'

const errors = defineErrors({
  app_key_required: [
    400,
    'The identity has no key for this app yet. Send encryptedAppKey or the asymmetric key fields.',
  ],
  app_key_changed: [409, 'The key of this app is another one, or was stored again. Read it again.'],
  key_in_use: [409, 'This public key belongs to another identity of this app.'],
  app_public_key_not_found: [404, 'No identity with an app public key matches, or it has not authorized this app.'],
})

/** Key that an app requests: its mode, and with `reset` a new key that replaces the current one. */
export type AppKeyRequest = { mode: EncryptionMode; reset: boolean }

/** Key as encrypted by the browser: for a key pair the encrypted private key and the plain public key. */
export type NewAppKey = { ciphertext: string; publicKey: Uint8Array | null }

/** App key to deliver, and with `reset` the one that it replaces. */
export type ResolvedAppKey = { appKey: SealedAppKey; replacedAppKey?: SealedAppKey }

type ResolveAppKeyInput = {
  identityId: IdentityId
  clientId: ClientId
  wish: AppKeyRequest
  made: NewAppKey | undefined
}

/**
 * Resolves the app key of an identity that connects the app in this transaction.
 *
 * Returns the stored key if there is one, even if another browser created it in the meantime, otherwise the new key.
 * With `reset` it also returns the key that the new one replaces, and keeps it: the app may never get this answer.
 * Concurrent browsers therefore all deliver the same key. Throws `app_key_required`, `reauthentication_required`,
 * `key_in_use`.
 */
export async function resolveAppKey(
  tx: Transaction,
  session: Session | RecoveredSession,
  requested: ResolveAppKeyInput,
  now: Date,
): Promise<ResolvedAppKey> {
  const { identityId, clientId, wish, made } = requested
  const place = { identityId, clientId, mode: wish.mode }
  const present = await store.findAppKey(tx, place)
  if (present && !wish.reset) return { appKey: toEncryptedAppKey(present) }
  if (!made) throw errors.app_key_required()

  requireRecentAuthentication(session, now)
  if (made.publicKey && !(await store.reserveAppPublicKey(tx, place, made.publicKey))) throw errors.key_in_use()
  const { userId } = session
  if (present) {
    const { ciphertext } = present
    await keepFormer(tx, userId, [{ kind: 'app_key', identityId, reference: clientId, ciphertext }], now)
  }
  const key: AppKey = { ...made, mode: wish.mode, createdAt: now }
  await store.upsertAppKey(tx, place, key)
  const action = present ? 'app_key.replaced' : 'app_key.created'
  await recordAuditEvent(tx, { action, actor: 'user', userId, identityId, clientId, details: { mode: wish.mode } }, now)
  return { appKey: toEncryptedAppKey(key), ...(present && { replacedAppKey: toEncryptedAppKey(present) }) }
}

type ResealInput = {
  identityId: IdentityId
  clientId: ClientId
  mode: EncryptionMode
  replaces: string
  ciphertext: string
}

/**
 * Stores an app key that the browser of its owner encrypted again, because the owner has changed where it may be
 * delivered. The key inside is the same.
 *
 * It replaces exactly the ciphertext that the browser has read, so that two browsers lose nothing of each other. Throws
 * `reauthentication_required`, `identity_not_found`, `app_key_changed`.
 */
export async function resealAppKey(
  db: Database,
  session: PasskeySession,
  { identityId, clientId, mode, ...change }: ResealInput,
  now: Date,
): Promise<void> {
  await actingTransaction(db, session, async (tx) => {
    requireRecentAuthentication(session, now)
    await lockOwnIdentity(tx, session, identityId, now)
    if (!(await store.swapCiphertext(tx, { identityId, clientId, mode }, change))) throw errors.app_key_changed()
    const { userId } = session
    const event = {
      action: 'app_key.resealed',
      actor: 'user',
      userId,
      identityId,
      clientId,
      details: { mode },
    } as const
    await recordAuditEvent(tx, event, now)
  })
}

/** Maps an app key to the API form that the browser of its owner receives. */
export function toEncryptedAppKey({ mode, ciphertext, publicKey, createdAt }: AppKey): SealedAppKey {
  return {
    encryptionMode: mode,
    encryptedAppKey: publicKey ? null : ciphertext,
    appPublicKey: publicKey && toBase64(publicKey),
    encryptedAppPrivateKey: publicKey ? ciphertext : null,
    createdAt: createdAt.toISOString(),
  }
}

/**
 * Finds the identity that has connected an app and has a public key in it.
 *
 * Throws `app_public_key_not_found` in constant time in all three cases: the handle is unknown, its identity has not
 * connected the app, or has no such key.
 */
export async function findAppKeyOwner(db: Database, target: AppKeyQuery) {
  const holder = await store.findAppKeyOwner(db, target)
  if (!holder?.publicKey) throw errors.app_public_key_not_found()
  if ('publicKey' in target && !equalBytes(holder.publicKey, target.publicKey)) throw errors.app_public_key_not_found()
  const { identityId, handle, displayName, publicKey } = holder
  return { identityId, handle, displayName, publicKey: toBase64(publicKey) }
}
