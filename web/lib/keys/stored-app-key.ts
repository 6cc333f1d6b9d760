import type { EncryptionMode, SealedAppKey } from '@countersign/protocol/oauth/app-keys'
import type { Authorization } from '@countersign/protocol/oauth/authorizations'

/** App key as the server stores it. */
export type StoredAppKey = Omit<SealedAppKey, 'createdAt'>

/** Returns the key of an authorization in one mode; undefined if there is none. */
export function storedKeyOf(
  { encryptedAppKey, appPublicKey, encryptedAppPrivateKey }: Authorization,
  mode: EncryptionMode,
): StoredAppKey | undefined {
  if (mode === 'symmetric')
    return encryptedAppKey === null
      ? undefined
      : { encryptionMode: mode, encryptedAppKey, appPublicKey: null, encryptedAppPrivateKey: null }
  if (appPublicKey === null || encryptedAppPrivateKey === null) return undefined
  return { encryptionMode: mode, encryptedAppKey: null, appPublicKey, encryptedAppPrivateKey }
}
