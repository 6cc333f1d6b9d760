import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRemoteSigner, registerRemoteApp } from '../server/testing/remote-signer.ts'
import { startService, type Service } from '../server/testing/service.ts'
import { createCountersign, CountersignError, verifyReceipt, type KeptReceipt } from './src/server.ts'

let service: Service
let kept: KeptReceipt
let asked: { requestId: string; clientId: string; identityId: string }
const payload = 'Überweise 10 €\r\nan Bob 👩‍🚀'

before(async () => {
  service = await startService()
  const settings = await registerRemoteApp(service)
  const { clientId } = settings
  const ada = await createRemoteSigner(service)
  const { identityId } = ada
  const { requestId } = await createCountersign(settings).createSigningRequest({ identityId, payload })
  await ada.sign(requestId, payload)
  asked = { requestId, clientId, identityId }
  const read = async (path: string) => {
    const response = await fetch(service.baseUrl + path)
    assert.equal(response.status, 200)
    return response.text()
  }
  const receipt = await read(`/api/signing/request/${requestId}/receipt?clientId=${clientId}`)
  kept = { receipt, payload, logKeys: JSON.parse(await read('/api/transparency/jwks')) }
})
after(() => service.close())

/** The code with which it is refused, when this is another. */
function refusedWith(changes: Partial<KeptReceipt>): string {
  try {
    verifyReceipt({ ...kept, ...changes })
  } catch (error) {
    assert.ok(error instanceof CountersignError)
    assert.match(error.description, /\.$/)
    return error.code
  }
  return 'nothing'
}

test('a receipt says who signed which text, without asking the service', () => {
  const { requestId, clientId, identityId, ...signed } = verifyReceipt(kept)
  assert.deepEqual({ requestId, clientId, identityId }, asked)
  assert.equal(signed.payload, payload)
  assert.equal(signed.keyVersion, 1)
  assert.ok(Date.parse(signed.createdAt) <= Date.parse(signed.resolvedAt))
})

test('a receipt proves no other text, nothing once it is altered, and nothing by other keys', () => {
  const [header = '', body = '', signature = ''] = kept.receipt.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  const altered = Buffer.from(JSON.stringify({ ...claims, keyVersion: 2 })).toString('base64url')
  assert.equal(refusedWith({}), 'nothing')
  assert.equal(refusedWith({ payload: payload.replace('10', '1000') }), 'other_payload')
  assert.equal(refusedWith({ payload: payload.normalize('NFD') }), 'other_payload')
  assert.equal(refusedWith({ payload: `${payload}\uD83D` }), 'other_payload')
  assert.equal(refusedWith({ receipt: [header, altered, signature].join('.') }), 'invalid_service_signature')
  assert.equal(refusedWith({ receipt: [header, body].join('.') }), 'invalid_service_signature')
  assert.equal(refusedWith({ receipt: '' }), 'malformed_receipt')
  assert.equal(refusedWith({ logKeys: { keys: [] } }), 'unknown_service_key')
  assert.equal(refusedWith({ logKeys: { ...kept.logKeys, origin: 'another.example/log' } }), 'key_not_in_log')
})
