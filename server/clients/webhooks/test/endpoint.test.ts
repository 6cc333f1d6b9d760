import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createKeyring } from '#platform/crypto/keyring.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { pruneWebhookSecrets, reencryptWebhookSecrets } from '#clients/webhooks/secret.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const pathOf = ({ clientId }: { clientId: string }) => `/api/admin/apps/${clientId}/webhook`
const ask = (method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, payload?: object) =>
  world.api.inject({ method, url, headers: world.admin, ...(payload && { payload }) })
const url = 'https://app.example/hook'

async function sealedSecrets() {
  return world.db.selectFrom('webhook_secret').select(['receiver_id', 'sealed_secret', 'expires_at']).execute()
}

test('WHK-08 the secret is returned when the webhook is first set, and never again', async () => {
  const app = await world.app()
  const set = await ask('PUT', pathOf(app), { url })
  assert.equal(set.statusCode, 200)
  const { secret, ...webhook } = set.json()
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.equal(Buffer.from(secret.slice('whsec_'.length), 'base64').length, 32)

  const moved = await ask('PUT', pathOf(app), { url: 'https://app.example/other' })
  assert.deepEqual(moved.json(), { ...webhook, url: 'https://app.example/other' })
  assert.deepEqual((await ask('GET', pathOf(app))).json(), moved.json())
  const { secret: next } = (await ask('POST', `${pathOf(app)}/secret`, { graceSeconds: 60 })).json()
  assert.match(next, /^whsec_[A-Za-z0-9+/]{43}=$/)
  await ask('POST', `${pathOf(app)}/test`)
  for (const path of ['/webhook', '/webhook/deliveries', ''].map((end) => `/api/admin/apps/${app.clientId}${end}`))
    for (const each of [secret, next]) assert.ok(!(await ask('GET', path)).body.includes(each), path)
  for (const path of ['/api/admin/apps', '/api/admin/audit'])
    for (const each of [secret, next]) assert.ok(!(await ask('GET', path)).body.includes(each), path)
})

test('a webhook that is deleted and set again has another secret', async () => {
  const app = await world.app()
  const first = (await ask('PUT', pathOf(app), { url })).json()
  assert.equal((await ask('DELETE', pathOf(app))).statusCode, 204)
  for (const [method, path] of [
    ['GET', pathOf(app)],
    ['DELETE', pathOf(app)],
    ['POST', `${pathOf(app)}/secret`],
    ['POST', `${pathOf(app)}/test`],
    ['GET', `${pathOf(app)}/deliveries`],
  ] as const) {
    const answer = await ask(method, path)
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'webhook_not_found'], path)
  }
  const second = (await ask('PUT', pathOf(app), { url })).json()
  assert.notEqual(second.secret, first.secret)
})

test('an unknown app has no webhook', async () => {
  const nobody = { clientId: 'app_unknown' }
  for (const [method, path] of [
    ['GET', pathOf(nobody)],
    ['PUT', pathOf(nobody)],
    ['DELETE', pathOf(nobody)],
    ['POST', `${pathOf(nobody)}/secret`],
    ['POST', `${pathOf(nobody)}/test`],
    ['GET', `${pathOf(nobody)}/deliveries`],
  ] as const) {
    const answer = await ask(method, path, method === 'PUT' ? { url } : undefined)
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'app_not_found'], path)
  }
})

test('WHK-04 a webhook URL is plain https and, on a public service, outside the operator’s networks', async (t) => {
  const app = await world.app()
  for (const wrong of [
    'http://app.example/',
    'https://a:b@app.example/',
    'https://app.example/#a',
    'app.example',
    '',
  ]) {
    const answer = await ask('PUT', pathOf(app), { url: wrong })
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], wrong)
  }
  assert.equal((await ask('PUT', pathOf(app), { url: 'http://localhost:3000/hook' })).statusCode, 200)

  const hosted = await createWorld({
    environment: {
      BASE_URL: 'https://api.example.com',
      AUTH_URL: 'https://id.example.com',
      BUSINESS_URL: 'https://business.example.com',
      ALLOW_EMBEDDED: '1',
    },
  })
  t.after(() => hosted.close())
  const theirs = await hosted.app()
  for (const inner of ['http://localhost:3000/', 'https://127.1/', 'https://169.254.169.254/', 'https://[::1]:5432/']) {
    const request = { method: 'PUT' as const, url: pathOf(theirs), headers: hosted.admin, payload: { url: inner } }
    const answer = await hosted.api.inject(request)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], inner)
    assert.match(answer.json().error_description, /private address|https/)
  }
})

test('only a few replaced secrets stay valid, and a rotation without a grace period ends them', async () => {
  const app = await world.app()
  await ask('PUT', pathOf(app), { url })
  const rotate = (graceSeconds?: number) =>
    ask('POST', `${pathOf(app)}/secret`, graceSeconds === undefined ? undefined : { graceSeconds })
  const own = async () => (await sealedSecrets()).filter((secret) => secret.receiver_id === app.clientId)
  for (const wrong of [-1, 1.5, 7 * 24 * 3600 + 1]) assert.equal((await rotate(wrong)).json().error, 'invalid_request')
  for (let count = 0; count < 3; count += 1) assert.equal((await rotate(60)).statusCode, 201)
  assert.equal((await rotate(60)).json().error, 'too_many_secrets')
  assert.equal((await own()).length, 4)
  assert.equal((await rotate()).statusCode, 201)
  await pruneWebhookSecrets(world.db, world.now())
  assert.deepEqual(
    (await own()).map(({ expires_at }) => expires_at),
    [null],
  )
})

test('WHK-08 secrets are sealed at rest for their app only, and re-encrypted when SECRET_KEY is replaced', async () => {
  const app = await world.app()
  const { secret } = (await ask('PUT', pathOf(app), { url })).json()
  const find = async () =>
    (await sealedSecrets()).find(({ receiver_id }) => receiver_id === app.clientId)?.sealed_secret ?? ''
  const before = await find()
  const context = `webhook-secret:${app.clientId}`
  const { keyring } = world.kernel
  assert.equal(await keyring.open(context, before), secret)
  await assert.rejects(keyring.open('webhook-secret:another', before))
  await reencryptWebhookSecrets(world.kernel)
  assert.equal(await find(), before)

  const roots = ['one', 'two'].map((name) => new Secret(`${name}-root-that-is-at-least-32-characters`))
  const older = createKeyring(roots.slice(0, 1))
  const both = createKeyring(roots.toReversed())
  await world.db.deleteFrom('webhook_endpoint').where('client_id', '<>', app.clientId).execute()
  await world.db
    .updateTable('webhook_secret')
    .set({ sealed_secret: await older.seal(context, secret) })
    .execute()
  await reencryptWebhookSecrets({ db: world.db, keyring: both })
  assert.equal(await createKeyring(roots.slice(1)).open(context, await find()), secret)
  await assert.rejects(older.open(context, await find()))
})

test('every change by the operator is in the audit log, without secret or path', async () => {
  const app = await world.app()
  await ask('PUT', pathOf(app), { url: 'https://app.example/a-path-that-is-a-secret' })
  await ask('POST', `${pathOf(app)}/secret`, { graceSeconds: 60 })
  await ask('DELETE', pathOf(app))
  const { entries } = (await ask('GET', '/api/admin/audit')).json()
  const acts = entries.slice(0, 3).map(({ action, actor, clientId, details }: Record<string, unknown>) => {
    return { action, actor, clientId, details }
  })
  const by = { actor: { kind: 'break_glass', id: null, name: null }, clientId: app.clientId }
  assert.deepEqual(acts, [
    { ...by, action: 'app.webhook.removed', details: {} },
    { ...by, action: 'app.webhook.secret_rotated', details: { graceSeconds: 60 } },
    { ...by, action: 'app.webhook.updated', details: { origin: 'https://app.example' } },
  ])
})
