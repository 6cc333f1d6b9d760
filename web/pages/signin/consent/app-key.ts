/**
 * What the page does with the key of an app: it is made or opened here, and leaves in the fragment of the address that
 * leads to the app. Loaded when it is needed; it brings the cryptography along.
 */
import { fragmentFor } from '@countersign/keys/app-key-fragment'
import type { MasterKey } from '@countersign/keys/master-key'
import type { Answer } from '@countersign/protocol/api'
import type { SealedAppKey } from '@countersign/protocol/oauth/app-keys'
import type { AppKey } from '@countersign/protocol/formats/encryption/app-key-fragment'
import type { AuthorizeRequest } from '@countersign/protocol/oauth/authorize'
import type { KeyDelivery } from '@countersign/protocol/pages'

type Place = { identityId: string; clientId: string }
type NewKey = Pick<AuthorizeRequest, 'encryptedAppKey' | 'appPublicKey' | 'encryptedAppPrivateKey'>

/** A new key of an identity in an app, as it goes to the server. */
export async function newKeyFor(
  masterKey: MasterKey,
  { identityId, clientId }: Place,
  { mode }: KeyDelivery,
): Promise<NewKey> {
  if (mode === 'symmetric') return { encryptedAppKey: await masterKey.newAppKey(identityId, clientId) }
  return masterKey.newAppKeyPair(identityId, clientId)
}

/**
 * The fragment by which the app gets the key that is in force: which one that is, the answer says, for another browser
 * may have been first. Throws `CannotOpen`.
 */
export async function fragmentOf(
  masterKey: MasterKey,
  place: Place,
  { appKey, replacedAppKey }: Pick<Answer<'POST /api/oauth/authorize'>, 'appKey' | 'replacedAppKey'>,
  { recipient }: KeyDelivery,
): Promise<string> {
  if (!appKey) throw new Error('The answer holds no key for an app that takes one.')
  const delivery = { appKey: await open(masterKey, place, appKey) }
  const former = replacedAppKey && (await open(masterKey, place, replacedAppKey))
  return fragmentFor({ ...delivery, ...(former && { former }) }, recipient)
}

async function open(masterKey: MasterKey, { identityId, clientId }: Place, sealed: SealedAppKey): Promise<AppKey> {
  const { encryptedAppKey, appPublicKey, encryptedAppPrivateKey } = sealed
  if (encryptedAppKey !== null) return masterKey.openAppKey(identityId, clientId, encryptedAppKey)
  return masterKey.openAppKeyPair(identityId, clientId, {
    appPublicKey: appPublicKey ?? '',
    encryptedAppPrivateKey: encryptedAppPrivateKey ?? '',
  })
}
