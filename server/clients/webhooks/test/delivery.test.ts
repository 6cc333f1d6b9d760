import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { type TestContext, after, before, mock, test } from 'node:test'
import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { Webhook } from 'standardwebhooks'
import { transaction } from '#platform/database/database.ts'
import { freePorts } from '#testing/service.ts'
import { startStopwatch } from '#testing/stopwatch.ts'
import { type ReceivedWebhook, startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { type TestApp, type TestWorld, createWorld } from '#testing/world.ts'
import { enqueueWebhooks, notifySender, pruneDeliveries, pruneFormerDeliveries } from '#clients/webhooks/delivery.ts'
import { startSender } from '#clients/webhooks/sender.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const pathOf = ({ clientId }: { clientId: ClientId }) => `/api/admin/apps/${clientId}/webhook`
const ask = (method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, payload?: object) =>
  world.api.inject({ method, url, headers: world.admin, ...(payload && { payload }) })

/** Creates an app with a webhook and returns its secret. */
async function appHearing(url: string): Promise<TestApp & { secret: string }> {
  const app = await world.app()
  const answer = await ask('PUT', pathOf(app), { url })
  assert.equal(answer.statusCode, 200, answer.body)
  return { ...app, secret: answer.json().secret }
}

async function deliveriesOf(app: TestApp): Promise<WebhookDelivery[]> {
  const answer = await ask('GET', `${pathOf(app)}/deliveries`)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().deliveries
}

/** Waits until the app's deliveries satisfy a condition. They are recorded after the receiver has responded. */
async function deliveriesWhen(app: TestApp, isSo: (deliveries: WebhookDelivery[]) => boolean) {
  for (;;) {
    const deliveries = await deliveriesOf(app)
    if (isSo(deliveries)) return deliveries
    // The embedded database responds without yielding to the network.
    await pause(10)
  }
}

async function notifyApp({ clientId }: TestApp): Promise<string | undefined> {
  const event = { clientId, type: 'webhook.test' as const, data: { clientId } }
  const [deliveryId] = await transaction(world.db, (tx) => enqueueWebhooks(tx, [event], world.now()))
  return deliveryId
}

/** Verifies a request with the library that receivers use, at the world's time. */
function verified({ headers, body }: ReceivedWebhook, secret: string): unknown {
  mock.timers.enable({ apis: ['Date'], now: world.now() })
  try {
    return new Webhook(secret).verify(body, headers)
  } finally {
    mock.timers.reset()
  }
}

/** Advances time and wakes waiting senders. */
function pass(seconds: number): void {
  world.pass(seconds)
  notifySender()
}

function startSending(t: TestContext) {
  const sender = startSender(world.kernel)
  t.after(() => sender.stop())
}

test('WHK-01 an event is delivered as soon as it is committed, with a signature by Standard Webhooks', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  assert.match(app.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)

  const deliveryId = await notifyApp(app)
  await receiver.has(1)
  const [got] = receiver.received
  assert.ok(got)
  assert.deepEqual(verified(got, app.secret), {
    type: 'webhook.test',
    timestamp: world.now().toISOString(),
    data: { clientId: app.clientId },
  })
  assert.equal(got.url, '/hook')
  assert.equal(got.headers['webhook-id'], deliveryId)
  assert.equal(got.headers['content-type'], 'application/json')
  assert.throws(() => verified(got, `whsec_${Buffer.alloc(32).toString('base64')}`), /No matching signature/)
  const altered = { ...got, body: got.body.replace(app.clientId, 'app_other') }
  assert.throws(() => verified(altered, app.secret), /No matching signature/)
  const [delivery] = await deliveriesWhen(app, ([first]) => first?.state === 'delivered')
  const { attempts, nextAttemptAt } = delivery ?? {}
  assert.deepEqual([attempts, nextAttemptAt], [[{ at: world.now().toISOString(), status: 204, reason: null }], null])
})

test('a delivery does not wait for the next poll of a sender that pauses for two seconds', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  using watch = startStopwatch()
  for (let count = 1; count <= 10; count += 1) {
    await notifyApp(app)
    await receiver.has(count)
  }
  assert.ok(watch.milliseconds() < 10_000)
})

test('an event that is rolled back is never delivered', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  const undone = transaction(world.db, async (tx) => {
    const { clientId } = app
    await enqueueWebhooks(
      tx,
      [{ clientId, type: 'webhook.test', data: { clientId: asId<ClientId>('of another app') } }],
      world.now(),
    )
    throw new Error('something else failed')
  })
  await assert.rejects(undone)
  await notifyApp(app)
  await receiver.has(1)
  assert.equal(JSON.parse(receiver.received[0]?.body ?? '').data.clientId, app.clientId)
  assert.equal((await deliveriesOf(app)).length, 1)
})

test('WHK-02 WHK-03 a failed delivery is repeated under the same ID at growing intervals', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver([500, { status: 302, headers: { location: '/elsewhere' } }, 400])
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  await notifyApp(app)

  for (const [attempts, seconds] of [5, 300, 1800].entries()) {
    const [waiting] = await deliveriesWhen(app, ([first]) => first?.attempts.length === attempts + 1)
    const next = Date.parse(waiting?.nextAttemptAt ?? '') - world.now().getTime()
    assert.ok(next >= seconds * 1000 && next <= seconds * 1200, `after ${attempts + 1}: ${next}`)
    pass(seconds * 1.2)
    await receiver.has(attempts + 2)
  }
  const [delivered] = await deliveriesWhen(app, ([first]) => first?.state === 'delivered')
  assert.deepEqual(
    delivered?.attempts.map(({ status }) => status),
    [500, 302, 400, 204],
  )
  assert.deepEqual([...new Set(receiver.received.map(({ url }) => url))], ['/hook'])
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
  const [first] = receiver.received
  assert.throws(() => first && verified(first, app.secret), /timestamp too old/)
  for (const got of receiver.received.slice(-1)) assert.ok(verified(got, app.secret))
})

test('a busy receiver gets no request before its Retry-After', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver([{ status: 503, headers: { 'retry-after': '3600' } }])
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  await notifyApp(app)
  const [waiting] = await deliveriesWhen(app, ([first]) => first?.attempts.length === 1)
  const next = Date.parse(waiting?.nextAttemptAt ?? '') - world.now().getTime()
  assert.ok(next >= 3_600_000 && next <= 3_600_000 * 1.2, String(next))
})

test('deliveries to an unreachable receiver are retried for three days and then fail', async (t) => {
  startSending(t)
  const [port = 0] = await freePorts(1)
  const app = await appHearing(`http://localhost:${port}/hook`)
  await notifyApp(app)
  const [refused] = await deliveriesWhen(app, ([first]) => first?.attempts.length === 1)
  assert.equal(refused?.attempts[0]?.reason, 'could_not_connect')

  for (let attempts = 2; attempts <= 10; attempts += 1) {
    pass(24 * 3600 * 1.2)
    await deliveriesWhen(app, ([first]) => first?.attempts.length === attempts)
  }
  const [given] = await deliveriesOf(app)
  assert.deepEqual([given?.state, given?.nextAttemptAt], ['failed', null])

  const receiver = await startWebhookReceiver([], port)
  t.after(receiver.close)
  await notifyApp(app)
  await receiver.has(1)
  assert.notEqual(receiver.received[0]?.headers['webhook-id'], given?.deliveryId)
})

test('a receiver that responds 410 gets no deliveries until its webhook is set again', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver([500, 410])
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  await notifyApp(app)
  await deliveriesWhen(app, ([first]) => first?.attempts.length === 1)
  await notifyApp(app)
  const deliveries = await deliveriesWhen(app, (all) => all.every(({ state }) => state === 'failed'))
  assert.equal(deliveries.length, 2)
  assert.equal((await ask('GET', pathOf(app))).json().status, 'disabled')
  assert.equal(await notifyApp(app), undefined)
  assert.equal((await ask('POST', `${pathOf(app)}/test`)).json().error, 'webhook_disabled')

  const again = (await ask('PUT', pathOf(app), { url: receiver.url })).json()
  assert.deepEqual([again.status, again.secret], ['active', undefined])
  const deliveryId = await notifyApp(app)
  await receiver.has(3)
  assert.equal(receiver.received[2]?.headers['webhook-id'], deliveryId)
  const { entries } = (await ask('GET', '/api/admin/audit')).json()
  const acts = entries.filter(({ clientId }: { clientId: ClientId }) => clientId === app.clientId)
  assert.deepEqual(
    acts.map(({ action }: { action: string }) => action),
    ['app.webhook.updated', 'app.webhook.disabled', 'app.webhook.updated', 'app.created'],
  )
})

test('a webhook that moved keeps an event that its former URL answers with 410', async (t) => {
  startSending(t)
  const former = await startWebhookReceiver([{ status: 410, afterMilliseconds: 500 }])
  const current = await startWebhookReceiver()
  t.after(() => Promise.all([former.close(), current.close()]))
  const app = await appHearing(former.url)
  const deliveryId = await notifyApp(app)
  await former.has(1)
  assert.equal((await ask('PUT', pathOf(app), { url: current.url })).statusCode, 200)
  const [moved] = await current.has(1)
  assert.equal(moved?.headers['webhook-id'], deliveryId)
  const [delivery] = await deliveriesWhen(app, ([first]) => first?.state !== 'pending')
  const statuses = delivery?.attempts.map(({ status }) => status)
  assert.deepEqual([delivery?.state, statuses], ['delivered', [410, 204]])
  assert.equal((await ask('GET', pathOf(app))).json().status, 'active')
})

test('a test event is delivered like any other', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  const { deliveryId } = (await ask('POST', `${pathOf(app)}/test`)).json()
  await receiver.has(1)
  const [got] = receiver.received
  assert.ok(got)
  assert.equal(got.headers['webhook-id'], deliveryId)
  assert.partialDeepStrictEqual(verified(got, app.secret), { type: 'webhook.test', data: { clientId: app.clientId } })
})

test('after a rotation both secrets sign until the grace period ends, then only the new one', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  const rotated = await ask('POST', `${pathOf(app)}/secret`, { graceSeconds: 600 })
  assert.equal(rotated.statusCode, 201)
  const { secret, previousUntil } = rotated.json()
  assert.equal(Date.parse(previousUntil), world.now().getTime() + 600_000)

  await notifyApp(app)
  await receiver.has(1)
  const [both] = receiver.received
  assert.ok(both && verified(both, secret) && verified(both, app.secret))
  assert.equal(both.headers['webhook-signature']?.split(' ').length, 2)

  pass(600)
  await notifyApp(app)
  await receiver.has(2)
  const after = receiver.received[1]
  assert.ok(after && verified(after, secret))
  assert.throws(() => verified(after, app.secret), /No matching signature/)
})

test('two senders share the work and send each delivery once', async (t) => {
  startSending(t)
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const apps = await Promise.all(Array.from({ length: 4 }, () => appHearing(receiver.url)))
  await Promise.all(apps.flatMap((app) => Array.from({ length: 15 }, () => notifyApp(app))))
  await receiver.has(60)
  for (const app of apps) await deliveriesWhen(app, (all) => all.every(({ state }) => state === 'delivered'))
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 60)
  assert.equal(receiver.received.length, 60)
})

test('WHK-06 a receiver that never responds delays no other', async (t) => {
  startSending(t)
  const slow = await startWebhookReceiver(Array<'nothing'>(40).fill('nothing'))
  const quick = await startWebhookReceiver()
  t.after(quick.close)
  t.after(slow.close)
  const [slowApp, quickApp] = [await appHearing(slow.url), await appHearing(quick.url)]
  for (let count = 0; count < 30; count += 1) await notifyApp(slowApp)
  await slow.has(4)
  await notifyApp(quickApp)
  await quick.has(1)
  assert.ok(slow.received.length < 16, `${slow.received.length} at once`)
})

test('an interrupted delivery is due at once for another sender and counts as no attempt', async (t) => {
  const receiver = await startWebhookReceiver(['nothing'])
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  const first = startSender(world.kernel)
  await notifyApp(app)
  await receiver.has(1)
  await first.stop()
  assert.deepEqual((await deliveriesOf(app))[0]?.attempts, [])
  startSending(t)
  await receiver.has(2)
  const [delivered] = await deliveriesWhen(app, ([only]) => only?.state === 'delivered')
  assert.equal(delivered?.attempts.length, 1)
  assert.equal(receiver.received[0]?.headers['webhook-id'], receiver.received[1]?.headers['webhook-id'])
})

test('a delivery whose lease has expired is sent by another sender, and a late outcome is ignored', async (t) => {
  const receiver = await startWebhookReceiver(['nothing'])
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  const stuck = startSender(world.kernel)
  await notifyApp(app)
  await receiver.has(1)
  startSending(t)
  pass(29)
  await deliveriesWhen(app, ([only]) => only?.state === 'pending')
  assert.equal(receiver.received.length, 1)
  pass(1)
  await receiver.has(2)
  await deliveriesWhen(app, ([only]) => only?.state === 'delivered')
  await stuck.stop()
  const [delivery] = await deliveriesOf(app)
  assert.deepEqual([delivery?.state, delivery?.attempts.map(({ status }) => status)], ['delivered', [204]])
  assert.equal(receiver.received.length, 2)
})

test('a disabled app gets no deliveries, and pending ones continue when it is enabled', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver([503])
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  await notifyApp(app)
  await deliveriesWhen(app, ([first]) => first?.attempts.length === 1)
  const set = (status: string) =>
    world.api.inject({
      method: 'PATCH',
      url: `/api/admin/apps/${app.clientId}`,
      headers: world.admin,
      payload: { status },
    })
  await set('disabled')
  assert.equal(await notifyApp(app), undefined)
  pass(6)
  const [refused] = await deliveriesWhen(app, ([first]) => first?.attempts.length === 2)
  assert.equal(refused?.attempts[1]?.reason, 'app_disabled')
  await set('active')
  pass(360)
  await receiver.has(2)
  await deliveriesWhen(app, ([first]) => first?.state === 'delivered')
})

test('deleting an app deletes its webhook, secrets and pending deliveries', async () => {
  const app = await appHearing('http://localhost:9/hook')
  await notifyApp(app)
  await world.api.inject({ method: 'DELETE', url: `/api/admin/apps/${app.clientId}`, headers: world.admin })
  await pruneFormerDeliveries(world.db, world.now(), 100)
  for (const table of ['webhook_endpoint', 'webhook_secret', 'webhook_delivery'] as const) {
    const rows = world.db.selectFrom(table).select('receiver_id')
    const left = await rows.where('receiver_id', '=', app.clientId).execute()
    assert.deepEqual(left, [], table)
  }
  assert.equal((await ask('GET', `${pathOf(app)}/deliveries`)).json().error, 'app_not_found')
})

test('GRW-20 deliveries are listed newest first in pages and deleted after 30 days', async () => {
  const app = await appHearing('http://localhost:9/hook')
  const ids: (string | undefined)[] = []
  for (let count = 0; count < 5; count += 1) ids.push(await notifyApp(app))
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await ask('GET', `${pathOf(app)}/deliveries?limit=2${cursor && `&cursor=${cursor}`}`)
    seen.push(...page.json().deliveries.map(({ deliveryId }: WebhookDelivery) => deliveryId))
    cursor = page.json().nextCursor
  }
  // IDs of one millisecond have no order.
  assert.deepEqual(seen, ids.toSorted().toReversed())

  pass(30 * 24 * 3600 - 1)
  await pruneDeliveries(world.db, world.now(), 100)
  assert.equal((await deliveriesOf(app)).length, 5)
  pass(1)
  while ((await pruneDeliveries(world.db, world.now(), 2)) === 2) await deliveriesOf(app)
  assert.deepEqual(await deliveriesOf(app), [])
})
