import {
  formatAppKeyFragment,
  writeSealedFragment,
  type AppKeyDelivery,
} from '@countersign/protocol/formats/encryption/app-key-fragment'
import { ciphertextContext } from '@countersign/protocol/formats/encryption/ciphertext-context'
import type { RecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import { CompactEncrypt } from 'jose/jwe/compact/encrypt'

/**
 * Returns the URL fragment that carries an app key. It is encrypted if the app's page has sent a key for that, so that
 * only that page can decrypt the content of the address bar.
 */
export async function buildAppKeyFragment(delivery: AppKeyDelivery, recipient?: RecipientKey): Promise<string> {
  const fragment = formatAppKeyFragment(delivery)
  return recipient ? writeSealedFragment(await sealTo(recipient, fragment)) : fragment
}

/** Returns the fragment of an app key as a compact JWE, for a delivery that passes through the server. */
export async function sealAppKeyFragment(delivery: AppKeyDelivery, recipient: RecipientKey): Promise<string> {
  return sealTo(recipient, formatAppKeyFragment(delivery))
}

/** A compact JWE of `alg: ECDH-ES` and `enc: A256GCM` (RFC 7518 §4.6, RFC 8037 §3.2). */
async function sealTo(recipient: RecipientKey, fragment: string): Promise<string> {
  const algorithm = recipient.crv === 'P-256' ? { name: 'ECDH', namedCurve: recipient.crv } : { name: recipient.crv }
  const key = await crypto.subtle.importKey('jwk', recipient, algorithm, false, [])
  return new CompactEncrypt(new TextEncoder().encode(fragment))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', ctx: ciphertextContext.appKeyFragment() })
    .encrypt(key)
}
