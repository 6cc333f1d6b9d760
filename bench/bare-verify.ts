/**
 * The minimum cost of verifying a signature: a Fastify route that parses JSON and makes one call of `node:crypto` with
 * a cached key. It sends its address to the parent process.
 */
import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import Fastify from 'fastify'
import type { Verification } from './signature.ts'

const keys = new Map<string, KeyObject>()
const app = Fastify()

app.post<{ Body: Verification }>('/verify', async ({ body: { message, signature, publicKey } }) => {
  const key = keys.get(publicKey) ?? importKey(publicKey)
  return { valid: verify(null, Buffer.from(message), key, Buffer.from(signature, 'base64')) }
})

function importKey(publicKey: string): KeyObject {
  const x = Buffer.from(publicKey, 'base64').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  keys.set(publicKey, key)
  return key
}

process.send?.(await app.listen({ port: 0, host: '127.0.0.1' }))
process.once('disconnect', () => process.exit(0))
