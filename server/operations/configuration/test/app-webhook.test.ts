import assert from 'node:assert/strict'
import { after, before, mock, test } from 'node:test'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { Webhook } from 'standardwebhooks'
import { startSender } from '#clients/webhooks/sender.ts'
import { createKeyring } from '#platform/crypto/keyring.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { isCurrentSecret } from '#clients/webhooks/secret.ts'
import { clientIdOf, declaredAppsOf, pathsOf } from '#testing/declared-apps.ts'
import { createToken } from '#testing/operators.ts'
import { type ReceivedWebhook, startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let apps: ReturnType<typeof declaredAppsOf>
before(async () => {
  world = await createWorld()
  apps = declaredAppsOf(world)
})
after(() => world.close())

const redirectUris = ['https://app.example.com/callback']
const url = 'https://app.example.com/hook'
const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`

const ask = (method: 'GET' | 'POST', path: string) =>
  world.api.inject({ method, url: `/api/admin/${path}`, headers: world.admin })

/** Verifies a request with the library that receivers use, at the world's time. */
function isSignedBy({ headers, body }: ReceivedWebhook, secret: string): boolean {
  mock.timers.enable({ apis: ['Date'], now: world.now() })
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  } finally {
    mock.timers.reset()
  }
}

test('CNF-02 the webhook of an app is applied, exported, not changed again, and removed without a url', async () => {
  const app = { key: 'grafana', name: 'Grafana', redirectUris, webhook: { url, secret: secretOf(1) } }
  const created = await apps.apply(app)
  assert.deepEqual(
    created.fields.filter(({ path }) => path.startsWith('webhook')),
    [
      { path: 'webhook.url', from: null, to: url },
      { path: 'webhook.secret', from: null, to: null },
    ],
  )
  const path = `apps/${clientIdOf(created)}/webhook`
  assert.equal((await apps.apply(app)).action, 'none')
  const declared = await apps.exported('grafana')
  assert.deepEqual(declared?.webhook, { url })
  assert.equal((await apps.apply(declared)).action, 'none')
  assert.equal((await apps.apply({ key: 'grafana', name: 'Grafana' })).action, 'none')

  const moved = await apps.apply({ ...app, webhook: { ...app.webhook, url: `${url}/2` } })
  assert.deepEqual(pathsOf(moved), ['webhook.url'])
  assert.equal((await ask('GET', path)).json().url, `${url}/2`)
  const removed = await apps.apply({ key: 'grafana', webhook: { url: null } })
  assert.deepEqual(removed.fields, [{ path: 'webhook.url', from: `${url}/2`, to: null }])
  assert.equal((await ask('GET', path)).statusCode, 404)
  assert.equal((await apps.apply({ key: 'grafana', webhook: { url: null } })).action, 'none')
  assert.equal((await apps.exported('grafana'))?.webhook, undefined)
})

test('CNF-03 events are signed by the declared secret alone, which is in no plan, export or event', async (t) => {
  const receiver = await startWebhookReceiver()
  t.after(() => receiver.close())
  const sender = startSender(world.kernel)
  t.after(() => sender.stop())
  const [first, second] = [secretOf(11), secretOf(22)]
  const withSecret = (secret: string) => ({
    key: 'signed',
    name: 'S',
    redirectUris,
    webhook: { url: receiver.url, secret },
  })
  const created = await apps.apply(withSecret(first))
  const path = `apps/${clientIdOf(created)}/webhook`
  const signers = async (count: number) => {
    assert.equal((await ask('POST', `${path}/test`)).statusCode, 201)
    const last = (await receiver.has(count)).at(-1)
    assert.ok(last)
    return [first, second].map((secret) => isSignedBy(last, secret))
  }
  assert.deepEqual(await signers(1), [true, false])
  const changed = await apps.apply(withSecret(second))
  assert.deepEqual(changed.fields, [{ path: 'webhook.secret', from: null, to: null }])
  assert.equal((await apps.apply(withSecret(second))).action, 'none')
  assert.deepEqual(await signers(2), [false, true])

  assert.equal((await ask('POST', `${path}/secret`)).statusCode, 201)
  assert.deepEqual(pathsOf(await apps.apply(withSecret(second))), ['webhook.secret'])
  const events = await world.db.selectFrom('audit_event').selectAll().execute()
  const everything = JSON.stringify([created, changed, await apps.exported('signed'), events])
  for (const secret of [first, second]) assert.ok(!everything.includes(secret.slice('whsec_'.length)))
})

test('a secret that no root key opens is another one, so that its file replaces it', async () => {
  const created = await apps.apply({ key: 'lost', name: 'L', redirectUris, webhook: { url, secret: secretOf(3) } })
  const { db, keyring } = world.kernel
  const clientId = asId<ClientId>(clientIdOf(created))
  const other = createKeyring([new Secret('another root key of at least 32 characters')])
  assert.deepEqual(
    [
      await isCurrentSecret({ db, keyring }, clientId, secretOf(3)),
      await isCurrentSecret({ db, keyring: other }, clientId, secretOf(3)),
    ],
    [true, false],
  )
})

test('CNF-06 a webhook needs what the single endpoint needs, and no answer repeats a refused secret', async () => {
  const base = { key: 'refused', name: 'R', redirectUris }
  const refusals = [
    { url: 'http://10.0.0.1/hook' },
    { url: 'no address' },
    { url: null, secret: secretOf(4) },
    { url, secret: 'a-secret-in-another-format' },
    { url, secret: `whsec_${Buffer.alloc(16, 7).toString('base64')}` },
    { url, secret: `${secretOf(4).slice(0, -2)}B=` },
  ]
  for (const webhook of refusals) {
    const refused = await apps.send({ ...base, webhook })
    assert.deepEqual([refused.statusCode, refused.json().error], [400, 'invalid_request'], JSON.stringify(webhook))
    if (webhook.secret !== undefined) assert.ok(!refused.body.includes(webhook.secret))
  }
  assert.equal(await apps.exported('refused'), undefined)
  const { headers } = await createToken(world, ['configuration.apply'])
  const denied = await apps.send({ key: 'grafana', webhook: { url: null } }, { headers })
  assert.deepEqual([denied.statusCode, denied.json().permission], [403, 'apps.manage'])
})
