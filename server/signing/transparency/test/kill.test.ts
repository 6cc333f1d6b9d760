import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { identityDigest } from '@countersign/protocol/formats/signing/key-event'
import { verifyCheckpoint } from '@countersign/protocol/formats/signing/key-inclusion'
import { isConsistent } from '@countersign/protocol/formats/signing/merkle-tree'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { createAuthenticator } from '#testing/authenticator.ts'
import { startService, type Service } from '#testing/service.ts'

const rounds = 3

async function read(service: Service, path: string) {
  const answer = await fetch(`${service.baseUrl}/api/transparency/${path}`)
  assert.equal(answer.status, 200)
  return answer.text()
}

async function headOf(service: Service) {
  const { origin, keys } = JSON.parse(await read(service, 'jwks'))
  const note = await read(service, 'checkpoint')
  const key = { name: origin, publicKey: Buffer.from(keys[0].x, 'base64url') }
  return verifyCheckpoint(nodeSuite, note, key) ?? assert.fail('the checkpoint is not signed')
}

async function post(service: Service, path: string, body: object) {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(service.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return JSON.parse(await answer.text())
}

/** Registers users with keys until the service is gone; returns the acknowledged ones. */
async function registerUntilKilled(service: Service): Promise<string[]> {
  const acknowledged: string[] = []
  try {
    for (;;) {
      const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
      const who = { handle: `signer-${randomBytes(6).toString('hex')}`, displayName: 'A signer' }
      const { flowId, options, identityId } = await post(service, '/api/auth/register/start', who)
      const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
      const signingKey = { publicKey: Buffer.from(x, 'base64url').toString('base64'), encryptedPrivateKey: 'a.b.c.d.e' }
      const credential = authenticator.register(options)
      const { sessionToken } = await post(service, '/api/auth/register/finish', { flowId, credential, signingKey })
      assert.ok(sessionToken)
      acknowledged.push(identityId)
    }
  } catch (error) {
    requireCutOff(error)
    return acknowledged
  }
}

async function readUntilKilled(service: Service, enough: number, onEnough: () => void): Promise<void> {
  try {
    for (;;) if ((await headOf(service)).size >= enough) onEnough()
  } catch (error) {
    requireCutOff(error)
  }
}

/** Rethrows an error unless the connection was refused or cut. */
function requireCutOff(error: unknown): void {
  if (!(error instanceof TypeError)) throw error
}

test('TLG-08 a kill at any moment loses no leaf, and the log stays append-only', async (t) => {
  const environment = { RATE_LIMITS: 'off', ...(process.env['TEST_DATABASE_URL'] !== undefined && { WORKERS: '2' }) }
  const service = await startService({ environment })
  t.after(() => service.close())
  let head = await headOf(service)
  for (let round = 0; round < rounds; round += 1) {
    const killed = Promise.withResolvers<void>()
    const enough = head.size + 5
    const work = [
      ...Array.from({ length: 3 }, () => registerUntilKilled(service)),
      ...Array.from({ length: 2 }, () => readUntilKilled(service, enough, killed.resolve).then(() => [])),
    ]
    await killed.promise
    await service.end('SIGKILL')
    const acknowledged = (await Promise.all(work)).flat()
    await service.restart()

    const next = await headOf(service)
    const { hashes } = JSON.parse(await read(service, `consistency?from=${head.size}&to=${next.size}`))
    const path = hashes.map((hash: string) => fromCanonicalBase64(hash) ?? assert.fail())
    assert.ok(isConsistent(nodeSuite.sha256, { from: head, to: next, hashes: path }))
    const { leaves } = JSON.parse(await read(service, 'leaves?start=0'))
    const received: string[] = leaves.map(({ leaf }: { leaf: string }) => JSON.parse(leaf).identity)
    assert.ok(acknowledged.length > 0)
    for (const identityId of acknowledged) assert.ok(received.includes(identityDigest(nodeSuite.sha256, identityId)))
    head = next
  }
})
