/**
 * App keys as the server stores them: encrypted in the browser, with the places to which each may be delivered. Pages
 * load this module on demand, because it includes the cryptography.
 */
import type { OpenedAppKey } from '@countersign/keys/app-key'
import type { MasterKey } from '@countersign/keys/master-key'
import type { AppKeyPlaces } from '@countersign/protocol/formats/encryption/app-key-envelope'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import { ApiError, call } from '../api/call.ts'
import { storedKeyOf, type StoredAppKey } from './stored-app-key.ts'

export type AppKeyOwner = { identityId: IdentityId; clientId: ClientId }

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

const triesMax = 3

/**
 * Stores an app key again with other places, and returns what is stored then. `change` returns the new places, or
 * undefined if nothing is to change.
 *
 * If another tab has stored it again in the meantime, nothing of that is lost: the key is read and changed again.
 * Throws `DecryptionError`, and `ApiError` (`app_key_changed`) if it keeps changing.
 */
export async function changePlaces(
  masterKey: MasterKey,
  owner: AppKeyOwner,
  stored: StoredAppKey,
  change: (places: AppKeyPlaces) => AppKeyPlaces | undefined,
): Promise<StoredAppKey> {
  let current = stored
  for (let tries = 1; ; tries += 1) {
    const opened = await openKey(masterKey, owner, current)
    const places = change(opened.places)
    if (!places) return current
    const resealed = await masterKey.sealAppKey(owner.identityId, owner.clientId, { ...opened, places })
    try {
      await swap(owner, current, resealed)
      return withCiphertext(current, resealed)
    } catch (error) {
      const isOutdated = error instanceof ApiError && error.code === 'app_key_changed'
      if (!isOutdated || tries === triesMax) throw error
      const kinds = await readStoredKeys(owner)
      current = kinds.find(({ encryptionMode }) => encryptionMode === stored.encryptionMode) ?? current
    }
  }
}

/** Reads the app keys of an identity, at most one of each kind. */
export async function readStoredKeys({ identityId, clientId }: AppKeyOwner): Promise<StoredAppKey[]> {
  const { authorization } = await call('GET /api/oauth/authorization/:clientId', {
    params: { clientId },
    querystring: { identity_id: identityId },
  })
  const kinds = authorization ? [storedKeyOf(authorization, 'symmetric'), storedKeyOf(authorization, 'asymmetric')] : []
  return kinds.filter((key) => key !== undefined)
}

async function swap({ identityId, clientId }: AppKeyOwner, current: StoredAppKey, ciphertext: string): Promise<void> {
  const { encryptionMode, encryptedAppKey, encryptedAppPrivateKey } = current
  await call('PUT /api/oauth/authorization/:clientId/app-key', {
    params: { clientId },
    body: { identityId, encryptionMode, replaces: encryptedAppKey ?? encryptedAppPrivateKey ?? '', ciphertext },
  })
}

function withCiphertext(stored: StoredAppKey, ciphertext: string): StoredAppKey {
  if (stored.encryptedAppKey !== null) return { ...stored, encryptedAppKey: ciphertext }
  return { ...stored, encryptedAppPrivateKey: ciphertext }
}
