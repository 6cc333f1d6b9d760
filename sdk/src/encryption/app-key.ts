import { parseSealedFragment } from '@countersign/protocol/formats/encryption/app-key-fragment'
import { importDelivered, type AppKey } from './delivered-key.ts'
import { decryptWithEphemeralKey } from './ephemeral-key.ts'
import { cannotOpen } from './jwe.ts'

/**
 * Reads the user's app key from the fragment of the URL. First it removes the fragment from the address bar and this
 * history entry. Returns undefined and changes nothing if the fragment contains no key. Throws `decryption_failed` if
 * the key is invalid or not for this browser.
 *
 * Validate `state` first; otherwise an attacker's URL could bring you the attacker's key. With `sealed`, which belongs
 * to `newEphemeralKey`, an unencrypted key is rejected.
 */
export async function readAppKey({ sealed = false }: { sealed?: boolean } = {}): Promise<AppKey | undefined> {
  const fragment = takeFragment()
  if (fragment === undefined) return undefined
  const ciphertext = parseSealedFragment(fragment)
  if (ciphertext !== undefined) return decryptAppKey(ciphertext)
  if (sealed) throw cannotOpen()
  return importDelivered(fragment)
}

/**
 * Decrypts the key that `signIn` brought encrypted to this browser, once. Throws `decryption_failed` if it is for
 * another browser.
 */
export async function decryptAppKey(ciphertext: string): Promise<AppKey> {
  return importDelivered(await decryptWithEphemeralKey(ciphertext))
}

function takeFragment(): string | undefined {
  const { href, hash } = location
  if (!/^#app_key(?:_jwe)?=/.test(hash)) return undefined
  // The absolute URL: a path that begins with // would be a URL of another host.
  history.replaceState(history.state, '', href.slice(0, href.length - hash.length))
  return hash.slice(1)
}
