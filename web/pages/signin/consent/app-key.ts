/**
 * Everything that the page does with an app key. It is created and decrypted here, and leaves in the fragment of the
 * URL that leads to the app. The page loads this module on demand, because it includes the cryptography.
 */
import { buildAppKeyFragment } from '@countersign/keys/app-key-fragment'
import type { MasterKey } from '@countersign/keys/master-key'
import type { ResponseOf } from '@countersign/protocol/api'
import type { SealedAppKey } from '@countersign/protocol/oauth/app-keys'
import type { AppKey } from '@countersign/protocol/formats/encryption/app-key-fragment'
import type { AuthorizeRequest } from '@countersign/protocol/oauth/authorize'
import type { AppKeyRequest } from '@countersign/protocol/pages'

type AppKeyOwner = { identityId: string; clientId: string }
type NewKey = Pick<AuthorizeRequest, 'encryptedAppKey' | 'appPublicKey' | 'encryptedAppPrivateKey'>

/** Creates the key of an identity in an app, encrypted for the server. */
export async function newKeyFor(
  masterKey: MasterKey,
  { identityId, clientId }: AppKeyOwner,
  { mode }: AppKeyRequest,
): Promise<NewKey> {
  if (mode === 'symmetric') return { encryptedAppKey: await masterKey.newAppKey(identityId, clientId) }
  return masterKey.newAppKeyPair(identityId, clientId)
}

/**
 * Returns the fragment that takes the current app key to the app. The response says which key is current, because
 * another browser may have created one first. Throws `DecryptionError`.
 */
export async function fragmentOf(
  masterKey: MasterKey,
  place: AppKeyOwner,
  { appKey, replacedAppKey }: Pick<ResponseOf<'POST /api/oauth/authorize'>, 'appKey' | 'replacedAppKey'>,
  { recipient }: AppKeyRequest,
): Promise<string> {
  if (!appKey) throw new Error('The answer holds no key for an app that takes one.')
  const delivery = { appKey: await open(masterKey, place, appKey) }
  const former = replacedAppKey && (await open(masterKey, place, replacedAppKey))
  return buildAppKeyFragment({ ...delivery, ...(former && { former }) }, recipient)
}

async function open(
  masterKey: MasterKey,
  { identityId, clientId }: AppKeyOwner,
  sealed: SealedAppKey,
): Promise<AppKey> {
  const { encryptedAppKey, appPublicKey, encryptedAppPrivateKey } = sealed
  if (encryptedAppKey !== null) return masterKey.openAppKey(identityId, clientId, encryptedAppKey)
  return masterKey.openAppKeyPair(identityId, clientId, {
    appPublicKey: appPublicKey ?? '',
    encryptedAppPrivateKey: encryptedAppPrivateKey ?? '',
  })
}
