import { toBase64 } from '@countersign/protocol/formats/base64'
import type { SigningKey } from '@countersign/protocol/signing/keys'
import type * as store from './store.ts'

/** Builds the owner's view of an identity's current key from all its keys, oldest first. */
export function toRecord(handle: string, keys: store.StoredKey[]): SigningKey {
  const [first, current] = [keys[0], keys.at(-1)]
  if (!first || !current?.encryptedPrivateKey) throw new Error('signing key record needs at least one key')
  return {
    identityId: current.identityId,
    handle,
    hasKey: true,
    publicKey: toBase64(current.publicKey),
    encryptedPrivateKey: current.encryptedPrivateKey,
    createdAt: first.createdAt.toISOString(),
    rotatedAt: current.keyVersion > first.keyVersion ? current.createdAt.toISOString() : null,
    keyVersion: current.keyVersion,
    former: keys.toReversed().flatMap(({ keyVersion, publicKey, createdAt, endedAt }) => {
      const since = createdAt.toISOString()
      return endedAt
        ? [{ keyVersion, publicKey: toBase64(publicKey), createdAt: since, endedAt: endedAt.toISOString() }]
        : []
    }),
  }
}
