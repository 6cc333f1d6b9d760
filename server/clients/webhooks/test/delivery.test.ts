import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, mock, test, type TestContext } from 'node:test'
import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { Webhook } from 'standardwebhooks'
import { transaction } from '#platform/database/database.ts'
import { freePorts } from '#testing/service.ts'
import { startWebhookReceiver, type ReceivedWebhook } from '#testing/webhook-receiver.ts'
import { createWorld, type TestApp, type World } from '#testing/world.ts'
import { ringBell } from '#clients/webhooks/bell.ts'
import { enqueueWebhooks, pruneDeliveries } from '#clients/webhooks/delivery.ts'
import { startSender } from '#clients/webhooks/sender.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const pathOf = ({ clientId }: { clientId: string }) => `/api/admin/apps/${clientId}/webhook`
const ask = (method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, payload?: object) =>
  world.api.inject({ method, url, headers: world.admin, ...(payload && { payload }) })

/** An app with a webhook, and the secret that it was told. */
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

/** The app's deliveries as soon as they are as awaited: they are written down after the receiver has answered. */
async function deliveriesWhen(app: TestApp, isSo: (deliveries: WebhookDelivery[]) => boolean) {
  for (;;) {
    const deliveries = await deliveriesOf(app)
    if (isSo(deliveries)) return deliveries
    // The embedded database answers without ever giving the network its turn.
    await pause(10)
  }
}

async function tell({ clientId }: TestApp, data: Record<string, unknown> = {}): Promise<string | undefined> {
  const event = { clientId, type: 'signing.signed' as const, data }
  const [deliveryId] = await transaction(world.db, (tx) => enqueueWebhooks(tx, [event], world.now()))
  return deliveryId
}

/** What a receiver makes of what it got, by the library that it would use, on a clock of the world's time. */
function verified({ headers, body }: ReceivedWebhook, secret: string): unknown {
  mock.timers.enable({ apis: ['Date'], now: world.now() })
  try {
    return new Webhook(secret).verify(body, headers)
  } finally {
    mock.timers.reset()
  }
}

/** Lets time pass, and wakes who waits for it. */
function pass(seconds: number): void {
  world.pass(seconds)
  ringBell()
}

function startSending(t: TestContext) {
  const sender = startSender(world.kernel)
  t.after(() => sender.stop())
}

test('WHK-01 an app hears of what happened as soon as it is committed, signed as Standard Webhooks says', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  assert.match(app.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)

  const deliveryId = await tell(app, { requestId: 'a-request' })
  await receiver.has(1)
  const [got] = receiver.received
  assert.ok(got)
  assert.deepEqual(verified(got, app.secret), {
    type: 'signing.signed',
    timestamp: world.now().toISOString(),
    data: { requestId: 'a-request' },
  })
  assert.equal(got.url, '/hook')
  assert.equal(got.headers['webhook-id'], deliveryId)
  assert.equal(got.headers['content-type'], 'application/json')
  assert.throws(() => verified(got, `whsec_${Buffer.alloc(32).toString('base64')}`), /No matching signature/)
  const altered = { ...got, body: got.body.replace('a-request', 'b-request') }
  assert.throws(() => verified(altered, app.secret), /No matching signature/)
  const [delivery] = await deliveriesWhen(app, ([first]) => first?.state === 'delivered')
  const { attempts, nextAttemptAt } = delivery ?? {}
  assert.deepEqual([attempts, nextAttemptAt], [[{ at: world.now().toISOString(), status: 204, reason: null }], null])
})

test('nobody waits for the next look of a sender that rests for two seconds', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  const began = performance.now()
  for (let count = 1; count <= 10; count += 1) {
    await tell(app)
    await receiver.has(count)
  }
  assert.ok(performance.now() - began < 10_000)
})

test('what is rolled back is never heard of', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  const undone = transaction(world.db, async (tx) => {
    await enqueueWebhooks(tx, [{ clientId: app.clientId, type: 'signing.denied', data: {} }], world.now())
    throw new Error('something else failed')
  })
  await assert.rejects(undone)
  await tell(app)
  await receiver.has(1)
  assert.equal(JSON.parse(receiver.received[0]?.body ?? '').type, 'signing.signed')
  assert.equal((await deliveriesOf(app)).length, 1)
})

test('WHK-02 WHK-03 what a receiver does not take is sent again under the same id, later each time', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver([500, { status: 302, headers: { location: '/elsewhere' } }, 400])
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  await tell(app)

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

test('a receiver that is busy is left alone for as long as it asks', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver([{ status: 503, headers: { 'retry-after': '3600' } }])
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  await tell(app)
  const [waiting] = await deliveriesWhen(app, ([first]) => first?.attempts.length === 1)
  const next = Date.parse(waiting?.nextAttemptAt ?? '') - world.now().getTime()
  assert.ok(next >= 3_600_000 && next <= 3_600_000 * 1.2, String(next))
})

test('a receiver that is not there is tried again, for three days, and then given up', async (t) => {
  startSending(t)
  const [port = 0] = await freePorts(1)
  const app = await appHearing(`http://localhost:${port}/hook`)
  await tell(app)
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
  await tell(app)
  await receiver.has(1)
  assert.notEqual(receiver.received[0]?.headers['webhook-id'], given?.deliveryId)
})

test('a receiver that says that it is gone hears nothing more until its webhook is set again', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver([500, 410])
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  await tell(app)
  await deliveriesWhen(app, ([first]) => first?.attempts.length === 1)
  await tell(app)
  const deliveries = await deliveriesWhen(app, (all) => all.every(({ state }) => state === 'failed'))
  assert.equal(deliveries.length, 2)
  assert.equal((await ask('GET', pathOf(app))).json().status, 'disabled')
  assert.equal(await tell(app), undefined)
  assert.equal((await ask('POST', `${pathOf(app)}/test`)).json().error, 'webhook_not_active')

  const again = (await ask('PUT', pathOf(app), { url: receiver.url })).json()
  assert.deepEqual([again.status, again.secret], ['active', undefined])
  await tell(app, { after: 'all' })
  await receiver.has(3)
  assert.deepEqual(JSON.parse(receiver.received[2]?.body ?? '').data, { after: 'all' })
  const { entries } = (await ask('GET', '/api/admin/audit')).json()
  const acts = entries.filter(({ clientId }: { clientId: string }) => clientId === app.clientId)
  assert.deepEqual(
    acts.map(({ action }: { action: string }) => action),
    ['app.webhook_set', 'app.webhook_disabled', 'app.webhook_set', 'app.created'],
  )
})

test('a test event arrives like any other', async (t) => {
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

test('after a rotation both secrets sign until the overlap ends, then the new one alone', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  const rotated = await ask('POST', `${pathOf(app)}/secret`, { graceSeconds: 600 })
  assert.equal(rotated.statusCode, 201)
  const { secret, previousUntil } = rotated.json()
  assert.equal(Date.parse(previousUntil), world.now().getTime() + 600_000)

  await tell(app)
  await receiver.has(1)
  const [both] = receiver.received
  assert.ok(both && verified(both, secret) && verified(both, app.secret))
  assert.equal(both.headers['webhook-signature']?.split(' ').length, 2)

  pass(600)
  await tell(app)
  await receiver.has(2)
  const after = receiver.received[1]
  assert.ok(after && verified(after, secret))
  assert.throws(() => verified(after, app.secret), /No matching signature/)
})

test('two senders share the work: each delivery is sent once', async (t) => {
  startSending(t)
  startSending(t)
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const apps = await Promise.all(Array.from({ length: 4 }, () => appHearing(receiver.url)))
  await Promise.all(apps.flatMap((app) => Array.from({ length: 15 }, () => tell(app))))
  await receiver.has(60)
  for (const app of apps) await deliveriesWhen(app, (all) => all.every(({ state }) => state === 'delivered'))
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 60)
  assert.equal(receiver.received.length, 60)
})

test('WHK-06 a receiver that does not answer keeps nobody else waiting', async (t) => {
  startSending(t)
  const slow = await startWebhookReceiver(Array<'nothing'>(40).fill('nothing'))
  const quick = await startWebhookReceiver()
  t.after(quick.close)
  t.after(slow.close)
  const [slowApp, quickApp] = [await appHearing(slow.url), await appHearing(quick.url)]
  for (let count = 0; count < 30; count += 1) await tell(slowApp)
  await slow.has(4)
  await tell(quickApp)
  await quick.has(1)
  assert.ok(slow.received.length < 16, `${slow.received.length} at once`)
})

test('what a sender was cut off from is due at once for another, and counts as no attempt', async (t) => {
  const receiver = await startWebhookReceiver(['nothing'])
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  const first = startSender(world.kernel)
  await tell(app)
  await receiver.has(1)
  await first.stop()
  assert.deepEqual((await deliveriesOf(app))[0]?.attempts, [])
  startSending(t)
  await receiver.has(2)
  const [delivered] = await deliveriesWhen(app, ([only]) => only?.state === 'delivered')
  assert.equal(delivered?.attempts.length, 1)
  assert.equal(receiver.received[0]?.headers['webhook-id'], receiver.received[1]?.headers['webhook-id'])
})

test('what is not settled within its lease is sent by another, and what the first hears then is late', async (t) => {
  const receiver = await startWebhookReceiver(['nothing'])
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  const stuck = startSender(world.kernel)
  await tell(app)
  await receiver.has(1)
  startSending(t)
  pass(29)
  await deliveriesWhen(app, ([only]) => only?.state === 'waiting')
  assert.equal(receiver.received.length, 1)
  pass(1)
  await receiver.has(2)
  await deliveriesWhen(app, ([only]) => only?.state === 'delivered')
  await stuck.stop()
  const [delivery] = await deliveriesOf(app)
  assert.deepEqual([delivery?.state, delivery?.attempts.map(({ status }) => status)], ['delivered', [204]])
  assert.equal(receiver.received.length, 2)
})

test('a disabled app is told nothing, and what waited for it goes on when it is enabled', async (t) => {
  startSending(t)
  const receiver = await startWebhookReceiver([503])
  t.after(receiver.close)
  const app = await appHearing(receiver.url)
  await tell(app)
  await deliveriesWhen(app, ([first]) => first?.attempts.length === 1)
  const set = (status: string) =>
    world.api.inject({
      method: 'PATCH',
      url: `/api/admin/apps/${app.clientId}`,
      headers: world.admin,
      payload: { status },
    })
  await set('disabled')
  assert.equal(await tell(app), undefined)
  pass(6)
  const [refused] = await deliveriesWhen(app, ([first]) => first?.attempts.length === 2)
  assert.equal(refused?.attempts[1]?.reason, 'app_disabled')
  await set('active')
  pass(360)
  await receiver.has(2)
  await deliveriesWhen(app, ([first]) => first?.state === 'delivered')
})

test('with an app go its webhook, its secrets and what was still to be delivered', async () => {
  const app = await appHearing('http://localhost:9/hook')
  await tell(app)
  await world.api.inject({ method: 'DELETE', url: `/api/admin/apps/${app.clientId}`, headers: world.admin })
  for (const table of ['webhook_endpoint', 'webhook_secret', 'webhook_delivery'] as const) {
    const left = await world.db.selectFrom(table).select('client_id').where('client_id', '=', app.clientId).execute()
    assert.deepEqual(left, [], table)
  }
  assert.equal((await ask('GET', `${pathOf(app)}/deliveries`)).json().error, 'app_not_found')
})

test('GRW-20 deliveries are listed newest first, page by page, and forgotten after 30 days', async () => {
  const app = await appHearing('http://localhost:9/hook')
  const ids: (string | undefined)[] = []
  for (let count = 0; count < 5; count += 1) ids.push(await tell(app))
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await ask('GET', `${pathOf(app)}/deliveries?limit=2${cursor && `&cursor=${cursor}`}`)
    seen.push(...page.json().deliveries.map(({ deliveryId }: WebhookDelivery) => deliveryId))
    cursor = page.json().nextCursor
  }
  // Within one millisecond ids have no order.
  assert.deepEqual(seen, ids.toSorted().toReversed())

  pass(30 * 24 * 3600 - 1)
  await pruneDeliveries(world.db, world.now(), 100)
  assert.equal((await deliveriesOf(app)).length, 5)
  pass(1)
  while ((await pruneDeliveries(world.db, world.now(), 2)) === 2) await deliveriesOf(app)
  assert.deepEqual(await deliveriesOf(app), [])
})
