import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { signingRequesterOf, createSigner } from '#testing/signer.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  app = await world.app({ name: 'Shop' })
  shop = signingRequesterOf(world, app)
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string; requestId: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const malformed = [400, 'invalid_request']

/** Creates a user who may receive as many requests of the shop as allowed. */
async function createCustomer() {
  const person = await createSigner(world)
  await app.tokens(person)
  return person
}

/** Sends a request with this text as its body. */
const sendText = (payload: string) =>
  world.api.inject({
    method: 'POST',
    url: '/api/signing/request',
    headers: { 'content-type': 'application/json' },
    payload,
  })

/** Builds a request body with the app's credentials and one more field in this exact notation. */
function textWith(identityId: string, name: string, written: string): string {
  const { client_id: clientId, client_secret: clientSecret } = app.credentials
  const body = JSON.stringify({
    clientId,
    clientSecret,
    identityId,
    ...(name !== 'payload' && { payload: 'Pay 10 €' }),
  })
  return `${body.slice(0, -1)},"${name}":${written}}`
}

test('SIG-01 a request without a required field, or with a wrong type, is malformed', async () => {
  const ada = await createCustomer()
  const missing = ['clientId', 'clientSecret', 'identityId', 'payload']
  for (const name of missing)
    for (const value of [undefined, null, 7, ['Pay 10 €'], { text: 'Pay 10 €' }, ''])
      assert.deepEqual(errorOf(await shop.request(ada.identityId, { [name]: value })), malformed, name)
  for (const body of ['', '{}', '[]', 'null', '"text"', '{']) assert.deepEqual(errorOf(await sendText(body)), malformed)
  assert.deepEqual((await ada.listRequests()).json().requests, [])
})

test("SIG-02 a request without the app's secret does not reveal whether an identity or key exists", async () => {
  const [ada, keyless] = [await createCustomer(), await world.person()]
  const disabled = await world.app()
  const { clientId } = disabled
  const url = `/api/admin/apps/${clientId}`
  await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: { status: 'disabled' } })
  const wrong = [
    { clientSecret: 'cs_secret_wrong' },
    { clientSecret: `${app.clientSecret} ` },
    { clientSecret: app.clientSecret.toUpperCase() },
    { clientId: 'app_unknown' },
    { clientId: clientId, clientSecret: app.clientSecret },
    { clientId, clientSecret: disabled.clientSecret },
    { clientId: 'app_playground', clientSecret: 'a-public-app-has-none' },
  ]
  for (const identityId of [ada.identityId, keyless.identityId, crypto.randomUUID()])
    for (const fields of wrong) {
      const answer = await shop.request(identityId, fields)
      assert.deepEqual(errorOf(answer), [401, 'invalid_client'], JSON.stringify(fields))
    }
  assert.deepEqual((await ada.listRequests()).json().requests, [])
})

test('SIG-03 an identity without a key, an unknown one and an invalid ID return different errors', async () => {
  const keyless = await world.person()
  assert.deepEqual(errorOf(await shop.request(crypto.randomUUID())), [404, 'identity_not_found'])
  assert.deepEqual(errorOf(await shop.request(keyless.identityId)), [422, 'no_signing_key'])
  for (const wrong of ['x', keyless.handle, `${keyless.identityId}0`, `{${keyless.identityId}}`, "' or 1=1 --"])
    assert.deepEqual(errorOf(await shop.request(wrong)), [404, 'identity_not_found'], wrong)
})

test('SIG-04 a text has 1 to 10,000 characters, however many bytes or code units each takes', async () => {
  const ada = await createCustomer()
  const fitting = ['a', '👩', 'a'.repeat(10_000), '👩'.repeat(10_000), `${'€'.repeat(9999)}👩`, ' ', '\n']
  for (const payload of fitting) {
    const opened = await shop.request(ada.identityId, { payload })
    assert.equal(opened.statusCode, 201, opened.body)
    const { requestId } = opened.json()
    assert.equal((await ada.readRequest(requestId)).json().payload, payload)
    assert.equal((await ada.sign(requestId, ada.pair.sign(payload))).statusCode, 200)
  }
  for (const payload of ['', 'a'.repeat(10_001), '👩'.repeat(10_001), `${'a'.repeat(10_000)}👩`])
    assert.deepEqual(errorOf(await shop.request(ada.identityId, { payload })), malformed, `${payload.length}`)
})

test('SIG-05 a lifetime is between a minute and an hour, in whole seconds', async () => {
  const ada = await createCustomer()
  for (const expiresInSeconds of [60, 61, 90.5, 3599.999, 3600]) {
    const opened = await shop.request(ada.identityId, { expiresInSeconds })
    const lifetime = Math.floor(expiresInSeconds) * 1000
    assert.equal(Date.parse(opened.json().expiresAt), world.now().getTime() + lifetime, `${expiresInSeconds}`)
  }
  const wrong = [
    '59',
    '59.999',
    '3600.001',
    '3601',
    '0',
    '-1',
    '-300',
    '"300"',
    'true',
    '1e400',
    'NaN',
    '[300]',
    '{}',
    '9e15',
  ]
  for (const written of wrong)
    assert.deepEqual(errorOf(await sendText(textWith(ada.identityId, 'expiresInSeconds', written))), malformed, written)
})

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
/** Builds metadata of exactly this many bytes. */
const large = (bytes: number) => JSON.stringify({ a: 'x'.repeat(bytes - '{"a":""}'.length) })

const notes: Record<string, { written: string; status: number }> = {
  '8 levels': { written: deep(8), status: 201 },
  '9 levels': { written: deep(9), status: 400 },
  '33 levels': { written: deep(33), status: 400 },
  '5,000 levels': { written: deep(5000), status: 400 },
  '100,000 levels': { written: deep(100_000), status: 413 },
  '9 levels of lists': { written: '{"a":[[[[[[[[1]]]]]]]]}', status: 400 },
  '16 KiB': { written: large(16 * 1024), status: 201 },
  'a byte more than 16 KiB': { written: large(16 * 1024 + 1), status: 400 },
  'more than 16 KiB in few characters': { written: `{"a":"${'👩'.repeat(4096)}"}`, status: 400 },
  '1 MB': { written: large(1_000_000), status: 413 },
  'an empty object': { written: '{}', status: 201 },
  'a key that reaches the prototype': { written: '{"__proto__":{"polluted":1}}', status: 400 },
  'the same, deeper': { written: '{"a":{"__proto__":{"polluted":1}}}', status: 400 },
  'a key named like a method': { written: '{"constructor":{"prototype":{"polluted":1}}}', status: 201 },
  'U+0000': { written: '{"a":"\\u0000"}', status: 400 },
  'U+0000 in a key': { written: '{"\\u0000":1}', status: 400 },
  'an unpaired surrogate': { written: '{"a":"\\ud800"}', status: 400 },
  'a number out of range': { written: '{"a":1e400}', status: 400 },
  'a key twice': { written: '{"a":1,"a":2}', status: 400 },
  'a list': { written: '[1]', status: 400 },
  'a text': { written: '"a"', status: 400 },
  null: { written: 'null', status: 201 },
}
for (const [what, { written, status }] of Object.entries(notes))
  test(`SIG-18 metadata with ${what}: ${status}, and the next request is served`, async () => {
    const ada = await createSigner(world)
    const answer = await sendText(textWith(ada.identityId, 'metadata', written))
    assert.equal(answer.statusCode, status, answer.body)
    assert.equal(({} as { polluted?: number }).polluted, undefined)
    for (const id of ['not-a-uuid', '%00', `{${crypto.randomUUID()}}`])
      assert.ok([400, 404].includes((await shop.status(id)).statusCode))
    assert.equal((await shop.request(ada.identityId)).statusCode, 201)
  })

test('SIG-20 a text with U+0000 or an unpaired surrogate is rejected', async () => {
  const ada = await createCustomer()
  for (const written of ['"a\\u0000b"', '"\\ud83d"', '"\\udc69a"', '"\\udc69\\ud83d"'])
    assert.deepEqual(errorOf(await sendText(textWith(ada.identityId, 'payload', written))), malformed, written)
  const written = await sendText(textWith(ada.identityId, 'payload', '"\\ud83d\\udc69"'))
  assert.equal((await ada.readRequest(written.json().requestId)).json().payload, '👩')
})

test('SIG-21 a text is signed unchanged, composed or not, with its spaces and line ends', async () => {
  const ada = await createCustomer()
  const [composed, apart] = ['Café für Zoë'.normalize('NFC'), 'Café für Zoë'.normalize('NFD')]
  assert.notEqual(composed, apart)
  for (const [payload, alike] of [
    [composed, apart],
    [apart, composed],
    ['a\r\nb', 'a\nb'],
    [' a ', 'a'],
    ['\ufeffa', 'a'],
    ['ﬁ', 'fi'],
  ] as const) {
    const { requestId } = (await shop.request(ada.identityId, { payload })).json()
    assert.equal((await ada.readRequest(requestId)).json().payload, payload)
    assert.deepEqual(errorOf(await ada.sign(requestId, ada.pair.sign(alike))), [400, 'invalid_signature'])
    const signature = ada.pair.sign(payload)
    assert.equal((await ada.sign(requestId, signature)).statusCode, 200)
    assert.equal((await shop.status(requestId)).json().signature, signature)
  }
})

test('SIG-26 the ID of a request is random in all of its 122 bits, and guessing finds no request', async () => {
  const ada = await createCustomer()
  const ids: string[] = []
  while (ids.length < 100) {
    const burst = Array.from({ length: 20 }, () => shop.request(ada.identityId, { expiresInSeconds: 60 }))
    for (const opened of await Promise.all(burst)) ids.push(opened.json().requestId)
    world.pass(60)
  }
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(new Set(ids).size, ids.length)
  assert.notDeepEqual(ids, ids.toSorted())
  // Version and variant (RFC 9562 §5.4) take six bits; every other bit is sometimes set and sometimes not.
  const numbers = ids.map((id) => BigInt(`0x${id.replaceAll('-', '')}`))
  const bits = Array.from({ length: 128 }, (_, bit) => new Set(numbers.map((number) => (number >> BigInt(bit)) & 1n)))
  assert.equal(bits.filter(({ size }) => size === 2).length, 122)

  for (let guess = 0; guess < 1000; guess += 1)
    assert.deepEqual(errorOf(await shop.status(crypto.randomUUID())), [404, 'request_not_found'])
})
