import type { NoteSuite } from '@countersign/protocol/formats/signing/checkpoint'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { sha256 } from '@noble/hashes/sha2.js'

type Claim = { publicKey: Uint8Array; message: Uint8Array; signature: Uint8Array }

/**
 * Runs a pure function that hashes and verifies signatures synchronously. WebCrypto does both asynchronously. A library
 * computes the hashes: there are hundreds, of public values, each of the one before. WebCrypto verifies: the function
 * runs again until each signature that it asks about has been verified: in a first run all count as valid. Only the
 * last run, which knows every result, counts.
 */
export async function runWithWebCrypto<Result>(run: (suite: NoteSuite) => Result): Promise<Result> {
  const known = new Map<string, boolean>()
  for (;;) {
    const open = new Map<string, Claim>()
    const result = run({
      sha256,
      verifyEd25519(publicKey, message, signature) {
        const name = [publicKey, sha256(message), signature].map(toBase64).join(' ')
        const isValid = known.get(name)
        if (isValid === undefined) open.set(name, { publicKey, message, signature })
        return isValid ?? true
      },
    })
    if (open.size === 0) return result
    const verified = [...open].map(async ([name, claim]) => [name, await verifyEd25519(claim)] as const)
    for (const [name, isValid] of await Promise.all(verified)) known.set(name, isValid)
  }
}

/** Verifies a signature (RFC 8032). The formats have checked before that key and signature are canonical. */
async function verifyEd25519({ publicKey, message, signature }: Claim): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey('raw', Uint8Array.from(publicKey), 'Ed25519', false, ['verify'])
    return await crypto.subtle.verify('Ed25519', key, Uint8Array.from(signature), Uint8Array.from(message))
  } catch (error) {
    // WebCrypto rejects bytes that are not a key.
    if (error instanceof DOMException && error.name === 'DataError') return false
    throw error
  }
}
