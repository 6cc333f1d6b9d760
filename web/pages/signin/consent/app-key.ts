/**
 * Everything that the page does with an app key. It is created and decrypted here, and leaves in the fragment of the
 * URL that leads to the app. The page loads this module on demand, because it includes the cryptography.
 */
import type { OpenedAppKey } from '@countersign/keys/app-key'
import { buildAppKeyFragment, sealAppKeyFragment } from '@countersign/keys/app-key-fragment'
import type { MasterKey } from '@countersign/keys/master-key'
import { thumbprintOf, type RecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import { redirectTargetOf } from '@countersign/protocol/formats/encryption/app-key-envelope'
import type { AuthorizeRequest } from '@countersign/protocol/oauth/authorize'
import type { AppKeyRequest } from '@countersign/protocol/pages'
import { changePlaces, type AppKeyOwner } from '../../../lib/keys/app-key-store.ts'
import type { StoredAppKey } from '../../../lib/keys/stored-app-key.ts'
import type { RequestedTarget } from '../requested-target.ts'
import { newPlaceOf, placesAfter, placesWith, type Destination, type NewPlace } from './delivery.ts'

export { openKey, type AppKeyOwner } from '../../../lib/keys/app-key-store.ts'

type NewKey = Pick<AuthorizeRequest, 'encryptedAppKey' | 'appPublicKey' | 'encryptedAppPrivateKey'>

/** Creates the key of an identity in an app, encrypted for the server. It may be delivered to this destination only. */
export async function newKeyFor(
  masterKey: MasterKey,
  { identityId, clientId }: AppKeyOwner,
  { mode }: AppKeyRequest,
  destination: Destination,
): Promise<NewKey> {
  const places = placesWith({ consentedAt: new Date().toISOString(), recipient: null, redirects: [] }, destination)
  if (mode === 'symmetric') return { encryptedAppKey: await masterKey.newAppKey(identityId, clientId, places) }
  return masterKey.newAppKeyPair(identityId, clientId, places)
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

/** Returns where a request wants its key. Returns undefined if no key is delivered to its redirect URI. */
export async function destinationOf({
  redirectUri,
  recipient,
  binds,
}: RequestedTarget): Promise<Destination | undefined> {
  const target = redirectTargetOf(redirectUri)
  if (target === undefined) return undefined
  return { target, recipient: recipient ? await thumbprintOf(recipient) : null, binds }
}

/** Returns the fragment of an app key as a compact JWE to the key of the app's server. */
export async function sealedOf({ appKey }: OpenedAppKey, recipient: RecipientKey): Promise<string> {
  return sealAppKeyFragment({ appKey }, recipient)
}

/**
 * Stores an app key again, so that it may be delivered to this destination as far as the user was `shown` it, and
 * returns what is stored then.
 */
export async function addDestination(
  masterKey: MasterKey,
  owner: AppKeyOwner,
  stored: StoredAppKey,
  { destination, shown }: { destination: Destination; shown: NewPlace },
): Promise<StoredAppKey> {
  return changePlaces(masterKey, owner, stored, (places) =>
    newPlaceOf([places], destination) ? placesAfter(places, shown, destination) : undefined,
  )
}
