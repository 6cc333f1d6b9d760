import {
  writeAppKeyFragment,
  writeSealedFragment,
  type AppKeyDelivery,
} from '@countersign/protocol/formats/encryption/app-key-fragment'
import { ciphertextContext } from '@countersign/protocol/formats/encryption/ciphertext-context'
import type { RecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import { CompactEncrypt } from 'jose/jwe/compact/encrypt'

/**
 * The fragment with which an app gets its key; sealed where the app's page has given a key for that, so that what
 * stands in the address bar opens for that page alone.
 */
export async function fragmentFor(delivery: AppKeyDelivery, recipient?: RecipientKey): Promise<string> {
  const fragment = writeAppKeyFragment(delivery)
  return recipient ? writeSealedFragment(await sealTo(recipient, fragment)) : fragment
}

/** A compact JWE of `alg: ECDH-ES` and `enc: A256GCM` (RFC 7518 §4.6, RFC 8037 §3.2). */
async function sealTo(recipient: RecipientKey, fragment: string): Promise<string> {
  const algorithm = recipient.crv === 'P-256' ? { name: 'ECDH', namedCurve: recipient.crv } : { name: recipient.crv }
  const key = await crypto.subtle.importKey('jwk', recipient, algorithm, false, [])
  return new CompactEncrypt(new TextEncoder().encode(fragment))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', ctx: ciphertextContext.appKeyFragment() })
    .encrypt(key)
}
