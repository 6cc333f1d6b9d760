import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { test } from 'node:test'
import { runWithWebCrypto } from '../web-suite.ts'

test('SLF-18 the result of a run counts only once every signature in it was verified', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const key = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const [message, other] = [Buffer.from('a'), Buffer.from('b')]
  const signature = sign(null, message, privateKey)
  const [shortKey, shortSignature] = [randomBytes(31), randomBytes(63)]
  const results = await runWithWebCrypto(({ verifyEd25519 }) => [
    verifyEd25519(key, message, signature),
    verifyEd25519(key, other, signature),
    verifyEd25519(shortKey, message, signature),
    verifyEd25519(key, message, shortSignature),
    // Asked only once it is known that another signature is invalid.
    verifyEd25519(key, other, signature) ? undefined : verifyEd25519(key, Buffer.from('c'), signature),
  ])
  assert.deepEqual(results, [true, false, false, false, false])
})
