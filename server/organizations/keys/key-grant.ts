import { createPublicKey } from 'node:crypto'
import { curveOfPublicKey } from '@countersign/protocol/formats/encryption/agreement-key'
import { ciphertextContext, type KeyGrantPlace } from '@countersign/protocol/formats/encryption/ciphertext-context'
import { readKeyGrant } from '@countersign/protocol/formats/encryption/key-grant'
import { CompactEncrypt } from 'jose'

/** Wraps a key to the encryption key of a member, as another member does in their browser. */
export async function wrapKey(key: Uint8Array, publicKey: Uint8Array, place: KeyGrantPlace): Promise<string> {
  const recipient = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' })
  return new CompactEncrypt(key)
    .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM', ctx: ciphertextContext.organizationKey(place) })
    .encrypt(recipient)
}

/** Whether a text is a grant of this key for this member, as far as anybody else can see. */
export function isGrantFor(text: string, publicKey: Uint8Array, place: KeyGrantPlace): boolean {
  const header = readKeyGrant(text)
  return header?.context === ciphertextContext.organizationKey(place) && header.curve === curveOfPublicKey(publicKey)
}
