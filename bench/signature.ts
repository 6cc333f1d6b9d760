import { newSigningPair } from '../server/testing/signer.ts'
import type { Call } from './load.ts'

/** The body of `POST /api/signing/verify`. */
export type Verification = { message: string; signature: string; publicKey: string }

/** A text of usual length, signed by a new key, and the enrollment of that key. */
export function newSignature() {
  const { publicKey, sign } = newSigningPair()
  const message = 'Pay 125.00 € to Ada Lovelace, IBAN DE89 3704 0044 0532 0130 00, for the invoice 2026-0117.'
  return {
    key: { publicKey, encryptedPrivateKey: 'a.b.c.d.e' },
    verification: { message, signature: sign(message), publicKey },
  }
}

export function verificationRequest(url: string, verification: Verification): Call {
  return { method: 'POST', url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(verification) }
}
