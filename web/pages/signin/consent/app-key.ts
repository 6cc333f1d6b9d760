/**
 * Everything that the page does with an app key. It is created and decrypted here, and leaves in the fragment of the
 * URL that leads to the app. The page loads this module on demand, because it includes the cryptography.
 */
import type { OpenedAppKey } from '@countersign/keys/app-key'
import { buildAppKeyFragment } from '@countersign/keys/app-key-fragment'
import type { MasterKey } from '@countersign/keys/master-key'
import { withRedirect } from '@countersign/protocol/formats/encryption/app-key-envelope'
import type { RecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import type { AuthorizeRequest } from '@countersign/protocol/oauth/authorize'
import type { AppKeyRequest } from '@countersign/protocol/pages'
import { ApiError, call } from '../../../lib/api/call.ts'
import { storedKeyOf, type StoredAppKey } from './delivery.ts'

export type AppKeyOwner = { identityId: IdentityId; clientId: ClientId }
type NewKey = Pick<AuthorizeRequest, 'encryptedAppKey' | 'appPublicKey' | 'encryptedAppPrivateKey'>

/** Creates the key of an identity in an app, encrypted for the server. It may be delivered to this target only. */
export async function newKeyFor(
  masterKey: MasterKey,
  { identityId, clientId }: AppKeyOwner,
  { mode }: AppKeyRequest,
  target: string,
): Promise<NewKey> {
  const places = { consentedAt: new Date().toISOString(), recipient: null, redirects: [target] }
  if (mode === 'symmetric') return { encryptedAppKey: await masterKey.newAppKey(identityId, clientId, places) }
  return masterKey.newAppKeyPair(identityId, clientId, places)
}

/** Decrypts an app key, and the places to which it may be delivered. Throws `DecryptionError`. */
export async function openKey(
  masterKey: MasterKey,
  { identityId, clientId }: AppKeyOwner,
  { encryptedAppKey, appPublicKey, encryptedAppPrivateKey }: StoredAppKey,
): Promise<OpenedAppKey> {
  if (encryptedAppKey !== null) return masterKey.openAppKey(identityId, clientId, encryptedAppKey)
  return masterKey.openAppKeyPair(identityId, clientId, {
    appPublicKey: appPublicKey ?? '',
    encryptedAppPrivateKey: encryptedAppPrivateKey ?? '',
  })
}

/**
 * Returns the fragment that takes an app key to the app, after a reset with the former one. The caller has checked that
 * both may be delivered where the URL leads.
 */
export async function fragmentOf(
  { current, former }: { current: OpenedAppKey; former?: OpenedAppKey | undefined },
  recipient: RecipientKey | undefined,
): Promise<string> {
  return buildAppKeyFragment({ appKey: current.appKey, ...(former && { former: former.appKey }) }, recipient)
}

const triesMax = 3

/**
 * Stores an app key again, so that it may be delivered to this target too, and returns what is stored then.
 *
 * If another tab has stored it again in the meantime, nothing of that is lost: the key is read again. Throws
 * `DecryptionError`, and `ApiError` (`app_key_changed`) if it keeps changing.
 */
export async function addTarget(
  masterKey: MasterKey,
  owner: AppKeyOwner,
  stored: StoredAppKey,
  target: string,
): Promise<StoredAppKey> {
  let current = stored
  for (let tries = 1; ; tries += 1) {
    const opened = await openKey(masterKey, owner, current)
    if (opened.places.redirects.includes(target)) return current
    const resealed = await masterKey.sealAppKey(owner.identityId, owner.clientId, {
      ...opened,
      places: withRedirect(opened.places, target),
    })
    try {
      await swap(owner, current, resealed)
      return withCiphertext(current, resealed)
    } catch (error) {
      const isOutdated = error instanceof ApiError && error.code === 'app_key_changed'
      if (!isOutdated || tries === triesMax) throw error
      current = (await readStoredKey(owner, current.encryptionMode)) ?? current
    }
  }
}

/** Reads the app key of an identity in one mode; undefined if there is none. */
export async function readStoredKey(
  { identityId, clientId }: AppKeyOwner,
  mode: AppKeyRequest['mode'],
): Promise<StoredAppKey | undefined> {
  const { authorization } = await call('GET /api/oauth/authorization/:clientId', {
    params: { clientId },
    querystring: { identity_id: identityId },
  })
  return authorization ? storedKeyOf(authorization, mode) : undefined
}

async function swap({ identityId, clientId }: AppKeyOwner, current: StoredAppKey, ciphertext: string): Promise<void> {
  await call('PUT /api/oauth/authorization/:clientId/app-key', {
    params: { clientId },
    body: { identityId, encryptionMode: current.encryptionMode, replaces: ciphertextOf(current), ciphertext },
  })
}

function ciphertextOf({ encryptedAppKey, encryptedAppPrivateKey }: StoredAppKey): string {
  return encryptedAppKey ?? encryptedAppPrivateKey ?? ''
}

function withCiphertext(stored: StoredAppKey, ciphertext: string): StoredAppKey {
  if (stored.encryptedAppKey !== null) return { ...stored, encryptedAppKey: ciphertext }
  return { ...stored, encryptedAppPrivateKey: ciphertext }
}
