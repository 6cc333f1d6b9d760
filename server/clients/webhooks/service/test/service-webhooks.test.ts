import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { ServiceWebhook } from '@countersign/protocol/clients/service-webhooks'
import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { Webhook } from 'standardwebhooks'
import { notifySender } from '#clients/webhooks/delivery.ts'
import { startSender } from '#clients/webhooks/sender.ts'
import { codeIn, type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let mailbox: Mailbox
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

const send = (method: Method, path: string, payload?: object, headers: Record<string, string> = world.admin) =>
  world.api.inject({ method, url: `/api/admin/webhooks${path}`, headers, ...(payload && { payload }) })

async function ask<Answer>(method: Method, path: string, payload?: object): Promise<Answer> {
  const answer = await send(method, path, payload)
  assert.ok(answer.statusCode < 300, answer.body)
  return JSON.parse(answer.body || '{}')
}

async function refusalOf(method: Method, path: string, payload?: object): Promise<[number, string]> {
  const answer = await send(method, path, payload)
  return [answer.statusCode, answer.json<{ error: string }>().error]
}

type Made = { webhook: ServiceWebhook; secret: string }
const url = 'https://events.example.com/hook'

async function create(t: TestContext, fields: object = {}): Promise<Made & { path: string }> {
  const made = await ask<Made>('POST', '', { url, ...fields })
  const path = `/${made.webhook.webhookId}`
  t.after(() => send('DELETE', path))
  return { ...made, path }
}

function startSending(t: TestContext): void {
  const sender = startSender(world.kernel)
  t.after(() => sender.stop())
}

const deliveriesOf = async (path: string) =>
  (await ask<{ deliveries: WebhookDelivery[] }>('GET', `${path}/deliveries`)).deliveries

/** Waits until the newest delivery satisfies a condition. It is recorded after the receiver has responded. */
async function newestWhen(path: string, isSo: (delivery: WebhookDelivery) => boolean): Promise<WebhookDelivery> {
  for (;;) {
    const [newest] = await deliveriesOf(path)
    if (newest && isSo(newest)) return newest
    await pause(10)
  }
}

test('a webhook is added, read, changed, tested and removed; each change is in the audit log', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const { webhook, secret, path } = await create(t, { url: receiver.url, events: ['identity.deleted'] })
  assert.deepEqual([webhook.status, webhook.events, webhook.lastAttempt], ['active', ['identity.deleted'], null])
  const { deliveryId } = await ask<{ deliveryId: string }>('POST', `${path}/test`)
  const [got] = await receiver.has(1)
  assert.ok(got)
  assert.equal(got.headers['webhook-id'], deliveryId)
  assert.deepEqual(JSON.parse(got.body), {
    type: 'service.test',
    timestamp: world.now().toISOString(),
    data: { webhookId: webhook.webhookId },
  })
  assert.ok(secret.startsWith('whsec_'))
  await newestWhen(path, ({ state }) => state === 'delivered')
  assert.equal((await ask<ServiceWebhook>('GET', path)).lastAttempt?.status, 204)

  const changed = await ask<ServiceWebhook>('PATCH', path, { url, events: [], status: 'disabled' })
  assert.deepEqual([changed.url, changed.events, changed.status], [url, [], 'disabled'])
  assert.deepEqual(await refusalOf('POST', `${path}/test`), [409, 'webhook_disabled'])
  await ask('PATCH', path, { status: 'active' })
  await ask('POST', `${path}/secret`, { graceSeconds: 60 })
  await ask('DELETE', path)
  for (const [method, end] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/secret'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['POST', `/deliveries/${deliveryId}/send`],
  ] as const) {
    const payload = method === 'PATCH' ? { events: [] } : undefined
    assert.deepEqual(await refusalOf(method, `${path}${end}`, payload), [404, 'webhook_not_found'], end)
  }
  const events = world.db.selectFrom('audit_event').select(['action', 'details']).where('action', 'like', 'webhook.%')
  const acts = await events.orderBy('event_id').execute()
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['created', 'updated', 'updated', 'secret_rotated', 'deleted'].map((end) => `webhook.${end}`),
  )
  assert.doesNotMatch(JSON.stringify(acts), /whsec_|\/hook/)
})

test('WHK-21 the secret is returned once, sealed at rest, and replaced with an overlap', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const { secret, path, webhook } = await create(t, { url: receiver.url })
  world.pass(1)
  const { secret: next } = await ask<{ secret: string }>('POST', `${path}/secret`, { graceSeconds: 60 })
  const signatures = async (count: number) => {
    await ask('POST', `${path}/test`)
    const got = (await receiver.has(count)).at(-1)
    assert.ok(got)
    const { headers, body } = got
    const at = new Date(Number(headers['webhook-timestamp']) * 1000)
    const of = (each: string) => new Webhook(each).sign(headers['webhook-id'] ?? '', at, body)
    return { sent: (headers['webhook-signature'] ?? '').split(' '), old: of(secret), current: of(next) }
  }
  const both = await signatures(1)
  assert.deepEqual(both.sent, [both.current, both.old])
  world.pass(61)
  const one = await signatures(2)
  assert.deepEqual(one.sent, [one.current])

  for (const end of ['', path, `${path}/deliveries`]) assert.doesNotMatch((await send('GET', end)).body, /whsec_/)
  assert.doesNotMatch((await send('PATCH', path, { events: [] })).body, /whsec_/)
  const stored = await world.db.selectFrom('webhook_secret').selectAll().execute()
  for (const each of [secret, next]) assert.ok(!JSON.stringify(stored).includes(each.slice('whsec_'.length)))
  const { sealed_secret: sealed } = stored.find((row) => row.expires_at === null) ?? { sealed_secret: '' }
  const ofOther = 'webhook-secret:01990000-0000-4000-8000-000000000000'
  await assert.rejects(world.kernel.keyring.open(ofOther, sealed), 'a secret is sealed for its webhook')
  assert.equal(await world.kernel.keyring.open(`webhook-secret:${webhook.webhookId}`, sealed), next)
})

test('WHK-22 only who manages sinks reads or changes webhooks, and no path leads to those of apps', async (t) => {
  const { path } = await create(t)
  const { headers: manager } = await createToken(world, ['sinks.manage'])
  const { headers: auditor } = await createToken(world, ['audit.read', 'apps.manage', 'apps.read'])
  assert.equal((await send('GET', path, undefined, manager)).statusCode, 200)
  for (const [method, end, payload] of [
    ['GET', '', undefined],
    ['POST', '', { url }],
    ['GET', path, undefined],
    ['PATCH', path, { url: 'https://attacker.example/hook' }],
    ['POST', `${path}/secret`, undefined],
    ['POST', `${path}/test`, undefined],
    ['GET', `${path}/deliveries`, undefined],
    ['DELETE', path, undefined],
  ] as const)
    for (const headers of [auditor, {}]) {
      const answer = await send(method, end, payload, headers)
      assert.equal(answer.statusCode, headers === auditor ? 403 : 401, `${method} ${end}`)
    }
  const app = await world.app()
  const ofApp = `/api/admin/apps/${app.clientId}/webhook`
  await world.api.inject({ method: 'PUT', url: ofApp, headers: world.admin, payload: { url } })
  assert.equal((await send('GET', `/${app.clientId}`)).statusCode, 404)
  const { webhooks } = await ask<{ webhooks: ServiceWebhook[] }>('GET', '')
  assert.deepEqual(
    webhooks.map(({ webhookId }) => `/${webhookId}`),
    [path],
  )
  const asApp = await world.api.inject({ url: `/api/admin/apps${path}/webhook`, headers: world.admin })
  assert.equal(asApp.statusCode, 404)
})

test('WHK-23 there are 20 webhooks at most, also when they are added at once', async () => {
  const answers = await Promise.all(Array.from({ length: 24 }, () => send('POST', '', { url })))
  const made = answers.filter(({ statusCode }) => statusCode === 201).map((answer) => answer.json<Made>())
  assert.equal(made.length, 20)
  assert.deepEqual(await refusalOf('POST', '', { url }), [409, 'too_many_webhooks'])
  for (const { webhook } of made) await ask('DELETE', `/${webhook.webhookId}`)
  world.pass(3600)
})

/** Gives an identity a verified address. */
async function verifyAddress({ identityId, headers }: Person): Promise<void> {
  const path = `/api/identities/${identityId}/email`
  await world.api.inject({ method: 'POST', url: path, headers, payload: { email: 'owner@example.com' } })
  const payload = { code: codeIn(await mailbox.take()) }
  const verified = await world.api.inject({ method: 'POST', url: `${path}/verify`, headers, payload })
  assert.equal(verified.statusCode, 200, verified.body)
}

test('WHK-24 the owners are mailed when a webhook is added, changed or removed', async (t) => {
  await verifyAddress(await makeOperator(world, await world.person(), 'owner'))
  const { path } = await create(t)
  const expectMail = async () => assert.match((await mailbox.take()).text, /events\.example\.com/)
  await expectMail()
  await ask('PATCH', path, { url: 'https://attacker.example/hook' })
  await expectMail()
  await ask('PATCH', path, { url })
  assert.match((await mailbox.take()).text, /attacker\.example/)
  await ask('POST', `${path}/secret`)
  await expectMail()
  await ask('DELETE', path)
  await expectMail()
  assert.equal(mailbox.count(), 0)
})

test('a failed event is sent again under its ID; a receiver that answers 410 stops its webhook', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver([500, 204, 410])
  t.after(receiver.close)
  const { path, webhook } = await create(t, { url: receiver.url })
  const { deliveryId } = await ask<{ deliveryId: string }>('POST', `${path}/test`)
  await newestWhen(path, ({ attempts }) => attempts.length === 1)
  assert.equal((await ask<ServiceWebhook>('GET', path)).lastAttempt?.status, 500)
  await ask('PATCH', path, { status: 'disabled' })
  assert.equal((await deliveriesOf(path))[0]?.state, 'failed')
  await ask('PATCH', path, { status: 'active' })
  await ask('POST', `${path}/deliveries/${deliveryId}/send`)
  assert.equal((await newestWhen(path, ({ state }) => state === 'delivered')).deliveryId, deliveryId)
  const refused = await refusalOf('POST', `${path}/deliveries/${deliveryId}/send`)
  assert.deepEqual(refused, [409, 'delivery_not_redeliverable'])
  await ask('POST', `${path}/test`)
  await newestWhen(path, ({ state }) => state === 'failed')
  assert.equal((await ask<ServiceWebhook>('GET', path)).status, 'disabled')
  notifySender()
  const [event] = await world.db
    .selectFrom('audit_event')
    .select(['actor', 'details'])
    .where('action', '=', 'webhook.disabled')
    .execute()
  assert.equal(event?.actor, 'system')
  assert.deepEqual(event?.details, { webhookId: webhook.webhookId, origin: new URL(receiver.url).origin })
})

test('URLs and types of events that cannot be are refused', async (t) => {
  const { path } = await create(t)
  for (const body of [
    { url: 'ftp://events.example.com' },
    { url: 'http://events.example.com/' },
    { url: 'https://user:password@events.example.com/' },
    { url, events: ['signing.signed'] },
    { url, events: ['service.test'] },
    { url, events: ['identity.created', 'identity.created'] },
    { url, secret: 'whsec_chosen' },
  ])
    for (const [method, end] of [
      ['POST', ''],
      ['PATCH', path],
    ] as const)
      assert.deepEqual(await refusalOf(method, end, body), [400, 'invalid_request'], JSON.stringify(body))
  assert.deepEqual(await refusalOf('PATCH', path, {}), [400, 'invalid_request'])
})
