import type { EncryptionMode, SealedAppKey } from '@countersign/protocol/oauth/app-keys'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { record } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { equalBytes } from '#platform/crypto/digest.ts'
import { refusals } from '#platform/refusal.ts'
import { requireFresh, type Session } from '#accounts/sessions/session.ts'
import * as store from './store.ts'
import type { AppKey, Sought } from './store.ts'

const refuse = refusals({
  app_key_required: [400, 'This identity has no key in this app yet. Send one that the browser has made and sealed.'],
  key_in_use: [409, 'This public key belongs to another identity of this app.'],
  app_public_key_not_found: [404, 'Nobody who has connected this app has such a handle or public key in it.'],
})

/** What an app asks for: a key of this mode, or with `reset` another one instead of it. */
export type KeyWish = { mode: EncryptionMode; reset: boolean }

/** A key as the browser has sealed it: of a pair the private half, and the public one in clear. */
export type NewAppKey = { ciphertext: string; publicKey: Uint8Array | null }

type Asked = { identityId: string; clientId: string; wish: KeyWish; made: NewAppKey | undefined }

/**
 * The key of an app for an identity that connects it in this transaction: the one that is there, whatever another
 * browser has made meanwhile, or the new one; with `reset` also the one that this replaces. Of a race
 * both browsers then deliver the same key. Refuses `app_key_required`, `reauthentication_required`, `key_in_use`.
 */
export async function settleAppKey(tx: Transaction, session: Session, asked: Asked, now: Date) {
  const { identityId, clientId, wish, made } = asked
  const place = { identityId, clientId, mode: wish.mode }
  const present = await store.findAppKey(tx, place)
  if (present && !wish.reset) return { appKey: toSealedAppKey(present) }
  if (!made) throw refuse.app_key_required()

  requireFresh(session, now)
  if (made.publicKey && !(await store.claimPublicKey(tx, place, made.publicKey))) throw refuse.key_in_use()
  const key: AppKey = { ...made, mode: wish.mode, createdAt: now }
  await store.upsertAppKey(tx, place, key)
  const action = present ? 'app.key_replaced' : 'app.key_created'
  const { userId } = session
  await record(tx, { action, actor: 'person', userId, identityId, clientId, details: { mode: wish.mode } }, now)
  return { appKey: toSealedAppKey(key), ...(present && { replacedAppKey: toSealedAppKey(present) }) }
}

/** The key as the browser of its owner gets it back. */
export function toSealedAppKey({ mode, ciphertext, publicKey, createdAt }: AppKey): SealedAppKey {
  return {
    encryptionMode: mode,
    encryptedAppKey: publicKey ? null : ciphertext,
    appPublicKey: publicKey && toBase64(publicKey),
    encryptedAppPrivateKey: publicKey ? ciphertext : null,
    createdAt: createdAt.toISOString(),
  }
}

/**
 * Who has connected an app and has a public key in it. One refusal, `app_public_key_not_found`, in the same time,
 * whether nobody has that handle, or the one who has it did not connect this app or has no such key.
 */
export async function findHolder(db: Database, sought: Sought) {
  const holder = await store.findKeyHolder(db, sought)
  if (!holder?.publicKey) throw refuse.app_public_key_not_found()
  if ('publicKey' in sought && !equalBytes(holder.publicKey, sought.publicKey)) throw refuse.app_public_key_not_found()
  return { ...holder, publicKey: toBase64(holder.publicKey) }
}
