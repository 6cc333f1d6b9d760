import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
const url = 'https://ledger.example/hook'
const noDelivery = '00000000-0000-4000-8000-000000000000'

async function portal(method: Method, path: string, { headers }: Pick<Person, 'headers'>, payload?: object) {
  const answer = await world.api.inject({
    method,
    url: `/api/developer/apps${path}`,
    headers,
    ...(payload && { payload }),
  })
  return { status: answer.statusCode, body: answer.body === '' ? undefined : answer.json() }
}

/** Registers an app of a user and returns the path of its webhook. */
async function register(person: Person): Promise<string> {
  const payload = { name: 'Ledger', redirectUris: ['https://ledger.example/callback'] }
  const { status, body } = await portal('POST', '', person, payload)
  assert.equal(status, 201)
  return `/${body.clientId}/webhook`
}

/** All operations on a webhook. */
const operations: [Method, string, object?][] = [
  ['GET', ''],
  ['PUT', '', { url }],
  ['POST', '/secret'],
  ['POST', '/test'],
  ['GET', '/deliveries'],
  ['POST', `/deliveries/${noDelivery}/send`],
  ['DELETE', ''],
]

test('a user manages the webhook of their app like the operator', async () => {
  const ada = await world.person()
  const path = await register(ada)
  assert.deepEqual((await portal('GET', path, ada)).body?.error, 'webhook_not_found')
  const { secret, ...webhook } = (await portal('PUT', path, ada, { url })).body
  assert.match(secret, /^whsec_/)
  assert.deepEqual((await portal('GET', path, ada)).body, webhook)
  const byOperator = await world.api.inject({ url: `/api/admin/apps${path}`, headers: world.admin })
  assert.deepEqual(byOperator.json(), webhook)

  const rotated = await portal('POST', `${path}/secret`, ada, { graceSeconds: 60 })
  assert.equal(rotated.status, 201)
  assert.notEqual(rotated.body.secret, secret)
  const { deliveryId } = (await portal('POST', `${path}/test`, ada)).body
  const { deliveries } = (await portal('GET', `${path}/deliveries`, ada)).body
  assert.partialDeepStrictEqual(deliveries, [{ deliveryId, type: 'webhook.test', state: 'pending', attempts: [] }])
  assert.equal((await portal('DELETE', path, ada)).status, 204)
  assert.equal((await portal('GET', path, ada)).body?.error, 'webhook_not_found')
})

test('WHK-09 the webhook of another user’s app is not found, for any operation', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const path = await register(ada)
  await portal('PUT', path, ada, { url })
  for (const [method, rest, payload] of operations) {
    const answer = await portal(method, `${path}${rest}`, eve, payload)
    assert.deepEqual([answer.status, answer.body?.error], [404, 'app_not_found'], `${method} ${rest}`)
    const unknown = await portal(method, `/app_none/webhook${rest}`, eve, payload)
    assert.deepEqual(unknown, answer)
  }
  assert.equal((await portal('GET', path, ada)).body?.url, url)
  assert.deepEqual((await portal('GET', `${path}/deliveries`, ada)).body?.deliveries, [])
})

test('WHK-09 a delivery of another user’s webhook is not found through an own webhook', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const [path, own] = [await register(ada), await register(eve)]
  await portal('PUT', path, ada, { url })
  await portal('PUT', own, eve, { url: 'https://eve.example/hook' })
  const { deliveryId } = (await portal('POST', `${path}/test`, ada)).body
  await world.db
    .updateTable('webhook_delivery')
    .set({ state: 'failed', next_attempt_at: null })
    .where('delivery_id', '=', deliveryId)
    .execute()
  const foreign = await portal('POST', `${own}/deliveries/${deliveryId}/send`, eve)
  assert.deepEqual([foreign.status, foreign.body?.error], [404, 'delivery_not_found'])
  const unknown = await portal('POST', `${own}/deliveries/${noDelivery}/send`, eve)
  assert.deepEqual(foreign, unknown)
  const listed = await portal('GET', `${own}/deliveries?cursor=${deliveryId}`, eve)
  assert.deepEqual(listed.body?.deliveries, [])
  assert.equal((await portal('POST', `${path}/deliveries/${deliveryId}/send`, ada)).status, 200)
})

test('WHK-10 the URL and the secret of a webhook require recent authentication', async () => {
  const ada = await world.person()
  const path = await register(ada)
  const other = await register(ada)
  const { secret } = (await portal('PUT', path, ada, { url })).body
  world.pass(600)
  const first = await portal('PUT', other, ada, { url })
  assert.deepEqual([first.status, first.body?.error], [403, 'reauthentication_required'])
  assert.equal((await portal('GET', other, ada)).body?.error, 'webhook_not_found')
  for (const [method, rest, payload] of [
    ['PUT', '', { url: 'https://eve.example/hook' }],
    ['POST', '/secret', {}],
  ] as const) {
    const answer = await portal(method, `${path}${rest}`, ada, payload)
    assert.deepEqual([answer.status, answer.body?.error], [403, 'reauthentication_required'], `${method} ${rest}`)
  }
  assert.equal((await portal('GET', path, ada)).body?.url, url)
  const fresh = { headers: await ada.signIn() }
  assert.notEqual((await portal('POST', `${path}/secret`, fresh)).body?.secret, secret)
})

test('WHK-11 outbound webhook requests of a user are limited per hour', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const ada = await limited.person()
  const knock = () =>
    limited.api.inject({ method: 'POST', url: '/api/developer/apps/app_1/webhook/test', headers: ada.headers })
  const answers = await Promise.all(Array.from({ length: 70 }, knock))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 404).length, 36)
  assert.equal((await knock()).json().error, 'rate_limited')
  const webhook = '/api/developer/apps/app_1/webhook'
  const { headers } = ada
  for (const [method, way] of [
    ['POST', '/test'],
    ['POST', `/deliveries/${noDelivery}/send`],
    ['PUT', ''],
  ] as const) {
    const answer = await limited.api.inject({
      method,
      url: webhook + way,
      headers,
      ...(method === 'PUT' && { payload: { url } }),
    })
    assert.deepEqual([answer.statusCode, answer.json().error], [429, 'rate_limited'], `${method} ${way}`)
  }
})

test('every change is in the audit log once, as its owner’s, without the secrets or the path', async () => {
  const ada = await world.person()
  const path = await register(ada)
  const set = (await portal('PUT', path, ada, { url })).body
  const rotated = (await portal('POST', `${path}/secret`, ada)).body
  await portal('DELETE', path, ada)
  const { body } = await world.api.inject({ url: '/api/account/activity', headers: ada.headers })
  const received: { action: string; actor: string }[] = JSON.parse(body).entries
  assert.deepEqual(
    received.slice(0, 3).map(({ action, actor }) => [action, actor]),
    ['removed', 'secret_rotated', 'updated'].map((act) => [`app.webhook.${act}`, 'user']),
  )
  for (const secret of [set.secret, rotated.secret, '/hook']) assert.ok(!body.includes(secret))
})

test('without the developer portal no webhook of it is served', async (t) => {
  const quiet = await createWorld({ environment: { DEVELOPER_PORTAL: 'off' } })
  t.after(() => quiet.close())
  const { headers } = await quiet.person()
  for (const [method, rest, payload] of operations) {
    const address = `/api/developer/apps/app_1/webhook${rest}`
    const answer = await quiet.api.inject({ method, url: address, headers, ...(payload && { payload }) })
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'not_found'], `${method} ${rest}`)
  }
})
