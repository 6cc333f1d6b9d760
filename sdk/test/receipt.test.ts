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
  type KeptReceipt,
  type LogKeys,
} from '../src/server/server.ts'

let service: Served
let countersign: Countersign
let kept: KeptReceipt
let logKeys: LogKeys
let settings: Awaited<ReturnType<typeof registerRemoteApp>>
let asked: { requestId: string; clientId: string; identityId: string }
const payload = 'Überweise 10 €\r\nan Bob 👩‍🚀'

before(async () => {
  service = await serveHere()
  settings = await registerRemoteApp(service)
  const { clientId } = settings
  countersign = createCountersign(settings)
  asked = { ...(await sign()), clientId }
  kept = await countersign.readReceipt({ ...asked, payload })
  logKeys = await countersign.readLogKeys()
})
after(() => service.close())

/** Has somebody sign the text. */
async function sign() {
  const ada = await createRemoteSigner(service)
  const { identityId } = ada
  const { requestId } = await countersign.createSigningRequest({ identityId, payload })
  await ada.sign(requestId, payload)
  return { requestId, identityId }
}

/** The code with which it is refused, when this is another. */
function refusedWith({ logKeys: keys = logKeys, ...changes }: Partial<KeptReceipt & { logKeys: LogKeys }>): string {
  try {
    verifyReceipt({ ...kept, ...changes }, { logKeys: keys })
  } catch (error) {
    assert.ok(error instanceof CountersignError)
    assert.match(error.description, /\.$/)
    return error.code
  }
  return 'nothing'
}

test('a receipt says who signed which text, without asking the service', () => {
  const { requestId, clientId, identityId, ...signed } = verifyReceipt(kept, { logKeys })
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
  assert.equal(refusedWith({ logKeys: { ...logKeys, origin: 'another.example/log' } }), 'key_not_in_log')
})

test('CLI-16 keys that were kept in the file of a receipt are not believed', () => {
  const file = JSON.stringify({ ...kept, logKeys })
  const [withKeys, others] = [JSON.parse(file), { logKeys: { keys: [] } }]
  assert.throws(() => verifyReceipt(withKeys, others), { code: 'unknown_service_key' })
  assert.throws(() => verifyOrganizationReceipt(withKeys, others), { code: 'unknown_service_key' })
  // What JavaScript written for an earlier version calls.
  assert.throws(() => Reflect.apply(verifyReceipt, undefined, [withKeys]), { code: 'unknown_service_key' })
  assert.throws(() => Reflect.apply(verifyOrganizationReceipt, undefined, [withKeys]), { code: 'unknown_service_key' })
  assert.equal(verifyReceipt(withKeys, { logKeys }).requestId, asked.requestId)
})

const codeOf = (error: unknown) => (error instanceof CountersignError ? [error.code, error.status] : error)
const refused = (work: Promise<unknown>) => work.then(() => 'nothing', codeOf)

test('an app has the receipt of what it asked, as JSON to keep, by the keys of the log that it knows', async () => {
  const [trusted, again] = [{ logKeys }, JSON.parse(JSON.stringify(kept))]
  assert.deepEqual(verifyReceipt(again, trusted), verifyReceipt(kept, trusted))
  assert.deepEqual(Object.keys(await countersign.readReceipt({ ...asked, payload, logKeys })), ['receipt', 'payload'])
  const others = countersign.readReceipt({ ...asked, payload, logKeys: { keys: [] } })
  assert.deepEqual(await refused(others), ['unknown_service_key', undefined])
  const another = countersign.readReceipt({ ...asked, payload: `${payload}.` })
  assert.deepEqual(await refused(another), ['other_payload', undefined])
})

test('what has no receipt, or not for this app, is refused as the service says it', async () => {
  const { identityId } = await createRemoteSigner(service)
  const { requestId } = await countersign.createSigningRequest({ identityId, payload })
  assert.deepEqual(await refused(countersign.readReceipt({ requestId, payload })), ['request_not_signed', 409])
  const unknown = { requestId: crypto.randomUUID(), payload }
  assert.deepEqual(await refused(countersign.readReceipt(unknown)), ['request_not_found', 404])
  const other = createCountersign(await registerRemoteApp(service))
  assert.deepEqual(await refused(other.readReceipt({ ...asked, payload })), ['access_denied', 403])
})

test('a service that gives another receipt than the wanted one is not believed', async (t) => {
  const another = await countersign.readReceipt({ ...(await sign()), payload })
  const answers: Record<string, unknown> = { jwks: JSON.stringify(logKeys), receipt: another.receipt }
  const liar = createServer(({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://liar')
    response.end(answers[pathname.split('/').at(-1) ?? ''])
  }).listen(0)
  await once(liar, 'listening')
  t.after(() => liar.close().closeAllConnections())
  const address = liar.address()
  if (address === null || typeof address === 'string') throw new Error('the liar listens on no port')
  const read = (wanted: object, clientId = settings.clientId) =>
    createCountersign({ ...settings, clientId, baseUrl: `http://localhost:${address.port}` }).readReceipt({
      requestId: verifyReceipt(another, { logKeys }).requestId,
      payload,
      ...wanted,
    })
  const unexpected = ['unexpected_answer', undefined]
  assert.deepEqual(await read({}), another)
  assert.deepEqual(await refused(read({ requestId: asked.requestId })), unexpected)
  assert.deepEqual(await refused(read({ identityId: asked.identityId })), unexpected)
  assert.deepEqual(await refused(read({}, 'app_other')), unexpected)
  answers['jwks'] = '{"keys":1}'
  assert.deepEqual(await refused(read({})), unexpected)
  answers['receipt'] = '<h1>Welcome</h1>'
  assert.deepEqual(await refused(read({ logKeys })), ['malformed_receipt', undefined])
})
