import { createPublicKey, hash, verify } from 'node:crypto'
import type { NoteSuite } from '../formats/signing/checkpoint.ts'

/** What verifies notes, proofs and receipts in Node. A key that is none verifies nothing. */
export const nodeSuite: NoteSuite = {
  sha256: (bytes) => hash('sha256', bytes, 'buffer'),
  verifyEd25519(publicKey, message, signature) {
    const x = Buffer.from(publicKey).toString('base64url')
    return verify(null, message, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }), signature)
  },
}
