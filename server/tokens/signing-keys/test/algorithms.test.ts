import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { type Algorithm, algorithms, webCryptoParameters } from '@countersign/protocol/formats/registries/algorithms'
import { accessTokenHash, generateSigningKeyPair, signBytes } from '#tokens/signing-keys/algorithms.ts'

type Example = { kty: string; crv?: string; hash: string; signatureBytes: number }

/** What the standards say of each algorithm (RFC 7518 §3.1, RFC 8037 §3.1). A new one does not compile without it. */
const examples: Record<Algorithm, Example> = {
  RS256: { kty: 'RSA', hash: 'sha256', signatureBytes: 256 },
  ES256: { kty: 'EC', crv: 'P-256', hash: 'sha256', signatureBytes: 64 },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', hash: 'sha512', signatureBytes: 64 },
}

for (const algorithm of algorithms) {
  const { kty, crv, hash, signatureBytes } = examples[algorithm]

  test(`${algorithm} signs with a key of its type, and a browser verifies the signature`, async () => {
    const { publicKey, privateKey } = await generateSigningKeyPair(algorithm)
    const jwk = publicKey.export({ format: 'jwk' })
    assert.deepEqual([jwk.kty, jwk.crv], [kty, crv])
    const data = randomBytes(100)
    const signature = Buffer.from(await signBytes(algorithm, data, privateKey))
    assert.equal(signature.length, signatureBytes)
    const parameters = webCryptoParameters(algorithm)
    const key = await crypto.subtle.importKey('jwk', jwk, parameters, false, ['verify'])
    assert.equal(await crypto.subtle.verify(parameters, key, signature, data), true)
    assert.equal(await crypto.subtle.verify(parameters, key, signature, randomBytes(100)), false)
  })

  test(`at_hash of an ID token by ${algorithm} is the left half of its own hash`, () => {
    const token = 'cs_at_an-access-token'
    const sha256 = createHash('sha256').update(token).digest()
    const digest = createHash(hash).update(token).digest()
    const half = digest.subarray(0, digest.length / 2).toString('base64url')
    assert.equal(accessTokenHash(algorithm, { token, sha256 }), half)
  })
}
