import { curveOfPublicKey, type AgreementCurve } from '@countersign/protocol/formats/encryption/agreement-key'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { isCompactJwe } from '@countersign/protocol/formats/compact-jwe'
import { recipientKeyOf } from '@countersign/protocol/formats/encryption/recipient-key'
import { JOSEError } from 'jose/errors'
import { compactDecrypt } from 'jose/jwe/compact/decrypt'
import { CompactEncrypt } from 'jose/jwe/compact/encrypt'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { CountersignError } from '../shared/error.ts'

type Algorithm = 'dir' | 'ECDH-ES'

const utf8 = new TextEncoder()

/** Seals content under an AES-256-GCM key, or to a public key to agree on a secret with, for one place (`ctx`). */
export async function seal(key: CryptoKey, context: string, content: string | Uint8Array): Promise<string> {
  const header = { alg: algorithmFor(key), enc: 'A256GCM', ctx: context }
  return new CompactEncrypt(bytesOf(content)).setProtectedHeader(header).encrypt(key)
}

/** Opens what `seal` sealed for this key and this context. Throws `cannot_open` for anything else. */
export async function open(key: CryptoKey, context: string, ciphertext: string): Promise<Uint8Array> {
  const algorithm = algorithmFor(key)
  if (!isCompactJwe(ciphertext)) throw cannotOpen()
  if (algorithm === 'ECDH-ES') refuseUnsoundKey(ciphertext, curveOf(key))
  const { plaintext, protectedHeader } = await decrypt(key, algorithm, ciphertext)
  if (protectedHeader.ctx !== context) throw cannotOpen()
  return plaintext
}

/** A public key as Countersign publishes it, to which `seal` seals; undefined where the text is none that is sound. */
export async function importPublicKey(publicKey: string): Promise<CryptoKey | undefined> {
  const spki = fromCanonicalBase64(publicKey)
  const curve = spki && curveOfPublicKey(spki)
  return curve && crypto.subtle.importKey('spki', spki, parametersOf(curve), true, [])
}

/** What WebCrypto wants to know of a curve. */
export function parametersOf(curve: AgreementCurve): { name: string; namedCurve?: string } {
  return curve === 'P-256' ? { name: 'ECDH', namedCurve: curve } : { name: curve }
}

export function cannotOpen(): CountersignError {
  return new CountersignError({ code: 'cannot_open', description: 'This does not open with this key in this context.' })
}

/** A key decides what it may be used for; what a ciphertext says of itself decides nothing (RFC 8725 §3.1). */
function algorithmFor({ algorithm: { name } }: CryptoKey): Algorithm {
  return name === 'AES-GCM' ? 'dir' : 'ECDH-ES'
}

function curveOf({ algorithm }: CryptoKey): unknown {
  return 'namedCurve' in algorithm ? algorithm.namedCurve : algorithm.name
}

/** With a point of small order or of another curve, whoever wrote the ciphertext could learn something of the key. */
function refuseUnsoundKey(ciphertext: string, curve: unknown): void {
  if (recipientKeyOf(headerOf(ciphertext)['epk'])?.crv !== curve) throw cannotOpen()
}

function headerOf(ciphertext: string): Record<string, unknown> {
  try {
    return decodeProtectedHeader(ciphertext)
  } catch {
    throw cannotOpen()
  }
}

async function decrypt(key: CryptoKey, algorithm: Algorithm, ciphertext: string) {
  try {
    return await compactDecrypt(ciphertext, key, {
      keyManagementAlgorithms: [algorithm],
      contentEncryptionAlgorithms: ['A256GCM'],
      maxDecompressedLength: 0,
    })
  } catch (error) {
    if (!(error instanceof JOSEError)) throw error
    throw cannotOpen()
  }
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  if (typeof content !== 'string') return content
  // Half a character has no bytes, and would come back as another.
  if (!content.isWellFormed()) throw new TypeError('The text has half a character, which cannot be encrypted')
  return utf8.encode(content)
}
