import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { createRemoteSigner, registerRemoteApp } from '../../server/testing/remote-signer.ts'
import { serveHere } from '../../server/testing/service-here.ts'
import type { Served } from '../../server/testing/service.ts'
import {
  createCountersign,
  CountersignError,
  verifyOrganizationReceipt,
  verifyReceipt,
  type Countersign,
  type ReceiptVerificationInput,
  type LogKeys,
} from '../src/server/server.ts'

let service: Served
let countersign: Countersign
let kept: ReceiptVerificationInput
let logKeys: LogKeys
let settings: Awaited<ReturnType<typeof registerRemoteApp>>
let request: { requestId: string; clientId: string; identityId: string }
const payload = 'Überweise 10 €\r\nan Bob 👩‍🚀'

before(async () => {
  service = await serveHere()
  settings = await registerRemoteApp(service)
  const { clientId } = settings
  countersign = createCountersign(settings)
  request = { ...(await sign()), clientId }
  kept = await countersign.getReceipt({ ...request, payload })
  logKeys = await countersign.getLogKeys()
})
after(() => service.close())

/** Creates a request that a user signs. */
async function sign() {
  const ada = await createRemoteSigner(service)
  const { identityId } = ada
  const { requestId } = await countersign.createSigningRequest({ identityId, payload })
  await ada.sign(requestId, payload)
  return { requestId, identityId }
}

/** Returns the error code of the receipt with this change. */
function refusedWith({
  logKeys: keys = logKeys,
  ...changes
}: Partial<ReceiptVerificationInput & { logKeys: LogKeys }>): string {
  try {
    verifyReceipt({ ...kept, ...changes }, { logKeys: keys })
  } catch (error) {
    assert.ok(error instanceof CountersignError)
    assert.match(error.description, /\.$/)
    return error.code
  }
  return 'nothing'
}

test('a receipt proves offline which user signed which text', () => {
  const { requestId, clientId, identityId, ...signed } = verifyReceipt(kept, { logKeys })
  assert.deepEqual({ requestId, clientId, identityId }, request)
  assert.equal(signed.payload, payload)
  assert.equal(signed.keyVersion, 1)
  assert.ok(Date.parse(signed.createdAt) <= Date.parse(signed.resolvedAt))
})

test('a receipt is rejected for another text, after any change, and with other keys', () => {
  const [header = '', body = '', signature = ''] = kept.receipt.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  const altered = Buffer.from(JSON.stringify({ ...claims, keyVersion: 2 })).toString('base64url')
  assert.equal(refusedWith({}), 'nothing')
  assert.equal(refusedWith({ payload: payload.replace('10', '1000') }), 'payload_mismatch')
  assert.equal(refusedWith({ payload: payload.normalize('NFD') }), 'payload_mismatch')
  assert.equal(refusedWith({ payload: `${payload}\uD83D` }), 'payload_mismatch')
  assert.equal(refusedWith({ receipt: [header, altered, signature].join('.') }), 'invalid_service_signature')
  assert.equal(refusedWith({ receipt: [header, body].join('.') }), 'invalid_service_signature')
  assert.equal(refusedWith({ receipt: '' }), 'malformed_receipt')
  assert.equal(refusedWith({ logKeys: { keys: [] } }), 'unknown_service_key')
  assert.equal(refusedWith({ logKeys: { ...logKeys, origin: 'another.example/log' } }), 'key_not_in_log')
})

test('CLI-16 keys stored in the file of a receipt are not trusted', () => {
  const file = JSON.stringify({ ...kept, logKeys })
  const [withKeys, others] = [JSON.parse(file), { logKeys: { keys: [] } }]
  assert.throws(() => verifyReceipt(withKeys, others), { code: 'unknown_service_key' })
  assert.throws(() => verifyOrganizationReceipt(withKeys, others), { code: 'unknown_service_key' })
  // The call of JavaScript written for an earlier version.
  assert.throws(() => Reflect.apply(verifyReceipt, undefined, [withKeys]), { code: 'unknown_service_key' })
  assert.throws(() => Reflect.apply(verifyOrganizationReceipt, undefined, [withKeys]), { code: 'unknown_service_key' })
  assert.equal(verifyReceipt(withKeys, { logKeys }).requestId, request.requestId)
})

const codeOf = (error: unknown) => (error instanceof CountersignError ? [error.code, error.status] : error)
const refused = (work: Promise<unknown>) => work.then(() => 'nothing', codeOf)

test('an app gets the receipt of its request as JSON, verified with log keys that it has', async () => {
  const [trusted, again] = [{ logKeys }, JSON.parse(JSON.stringify(kept))]
  assert.deepEqual(verifyReceipt(again, trusted), verifyReceipt(kept, trusted))
  assert.deepEqual(Object.keys(await countersign.getReceipt({ ...request, payload, logKeys })), ['receipt', 'payload'])
  const others = countersign.getReceipt({ ...request, payload, logKeys: { keys: [] } })
  assert.deepEqual(await refused(others), ['unknown_service_key', undefined])
  const another = countersign.getReceipt({ ...request, payload: `${payload}.` })
  assert.deepEqual(await refused(another), ['payload_mismatch', undefined])
})

test('a request without receipt, or of another app, gets the error of the service', async () => {
  const { identityId } = await createRemoteSigner(service)
  const { requestId } = await countersign.createSigningRequest({ identityId, payload })
  assert.deepEqual(await refused(countersign.getReceipt({ requestId, payload })), ['request_not_signed', 409])
  const unknown = { requestId: crypto.randomUUID(), payload }
  assert.deepEqual(await refused(countersign.getReceipt(unknown)), ['request_not_found', 404])
  const other = createCountersign(await registerRemoteApp(service))
  assert.deepEqual(await refused(other.getReceipt({ ...request, payload })), ['access_denied', 403])
})

test('a receipt for another request is rejected', async (t) => {
  const another = await countersign.getReceipt({ ...(await sign()), payload })
  const answers: Record<string, unknown> = { jwks: JSON.stringify(logKeys), receipt: another.receipt }
  const liar = createServer(({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://liar')
    response.end(answers[pathname.split('/').at(-1) ?? ''])
  }).listen(0)
  await once(liar, 'listening')
  t.after(() => liar.close().closeAllConnections())
  const address = liar.address()
  if (address === null || typeof address === 'string') throw new Error('the lying service has no port')
  const read = (requested: object, clientId: string = settings.clientId) =>
    createCountersign({ ...settings, clientId, baseUrl: `http://localhost:${address.port}` }).getReceipt({
      requestId: verifyReceipt(another, { logKeys }).requestId,
      payload,
      ...requested,
    })
  const unexpected = ['unexpected_response', undefined]
  assert.deepEqual(await read({}), another)
  assert.deepEqual(await refused(read({ requestId: request.requestId })), unexpected)
  assert.deepEqual(await refused(read({ identityId: request.identityId })), unexpected)
  assert.deepEqual(await refused(read({}, 'app_other')), unexpected)
  answers['jwks'] = '{"keys":1}'
  assert.deepEqual(await refused(read({})), unexpected)
  answers['receipt'] = '<h1>Welcome</h1>'
  assert.deepEqual(await refused(read({ logKeys })), ['malformed_receipt', undefined])
})
