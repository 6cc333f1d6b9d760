import type { AppKeyPlaces } from '@countersign/protocol/formats/encryption/app-key-envelope'
import type { SealedAppKey } from '@countersign/protocol/oauth/app-keys'
import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import type { AppKeyRequest } from '@countersign/protocol/pages'

/** App key as the server stores it. */
export type StoredAppKey = Omit<SealedAppKey, 'createdAt'>

/** Returns the key of an authorization in one mode; undefined if there is none. */
export function storedKeyOf(
  { encryptedAppKey, appPublicKey, encryptedAppPrivateKey }: Authorization,
  mode: AppKeyRequest['mode'],
): StoredAppKey | undefined {
  if (mode === 'symmetric')
    return encryptedAppKey === null
      ? undefined
      : { encryptionMode: mode, encryptedAppKey, appPublicKey: null, encryptedAppPrivateKey: null }
  if (appPublicKey === null || encryptedAppPrivateKey === null) return undefined
  return { encryptionMode: mode, encryptedAppKey: null, appPublicKey, encryptedAppPrivateKey }
}

/** Where an app has received its key before, and where it asks for it now. */
export type NewPlace = { before: string[]; now: string }

/**
 * Returns what the user must confirm before keys with these places are delivered to a target: that one of them has
 * never been delivered there. Returns undefined if there is nothing to confirm.
 */
export function newPlaceOf(keys: AppKeyPlaces[], target: string): NewPlace | undefined {
  const elsewhere = keys.filter(({ redirects }) => !redirects.includes(target))
  if (elsewhere.length === 0) return undefined
  return { before: [...new Set(elsewhere.flatMap(({ redirects }) => redirects))], now: target }
}
