import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, test, type TestContext } from 'node:test'
import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { startSender } from '#clients/webhooks/sender.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const ask = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
  world.api.inject({ method, url: `/api/admin/apps/${url}`, headers: world.admin, ...(payload && { payload }) })

async function deliveryWhen(path: string, isSo: (delivery: WebhookDelivery) => boolean): Promise<WebhookDelivery> {
  for (;;) {
    const [delivery] = (await ask('GET', `${path}/deliveries`)).json().deliveries
    if (isSo(delivery)) return delivery
    // The embedded database responds without yielding to the network.
    await pause(10)
  }
}

/** Creates an app with a delivery that failed, because its receiver was unavailable. */
async function givenUp(t: TestContext, later: number[] = []) {
  const sender = startSender(world.kernel)
  t.after(() => sender.stop())
  const receiver = await startWebhookReceiver([410, ...later])
  t.after(receiver.close)
  const { clientId } = await world.app()
  const path = `${clientId}/webhook`
  const set = () => ask('PUT', path, { url: receiver.url })
  await set()
  const { deliveryId } = (await ask('POST', `${path}/test`)).json()
  await deliveryWhen(path, ({ state }) => state === 'failed')
  return { receiver, clientId, path, set, again: () => ask('POST', `${path}/deliveries/${deliveryId}/send`) }
}

test('a failed delivery is sent again under its ID', async (t) => {
  const { receiver, path, set, again } = await givenUp(t)
  const early = await again()
  assert.deepEqual([early.statusCode, early.json().error], [409, 'webhook_disabled'])
  await set()
  const answer = await again()
  assert.equal(answer.statusCode, 200)
  const { state, nextAttemptAt, attempts } = answer.json()
  assert.deepEqual([state, nextAttemptAt, attempts.length], ['pending', world.now().toISOString(), 1])

  await receiver.has(2)
  const delivered = await deliveryWhen(path, (delivery) => delivery.state !== 'pending')
  assert.deepEqual([delivered.state, delivered.attempts.map(({ status }) => status)], ['delivered', [410, 204]])
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
})

test('WHK-12 two requests redeliver once, and a delivered event is not sent again', async (t) => {
  const { receiver, path, clientId, set, again } = await givenUp(t)
  await set()
  const answers = await Promise.all(Array.from({ length: 6 }, again))
  const statuses = answers.map(({ statusCode }) => statusCode)
  assert.deepEqual(statuses.toSorted(), [200, 409, 409, 409, 409, 409])
  await deliveryWhen(path, ({ state }) => state === 'delivered')
  const late = await again()
  assert.deepEqual([late.statusCode, late.json().error], [409, 'delivery_not_redeliverable'])
  assert.equal(receiver.received.length, 2)

  const trail = await world.api.inject({ url: '/api/admin/audit', headers: world.admin })
  const acts = trail.json().entries.filter((entry: { clientId: string }) => entry.clientId === clientId)
  assert.equal(acts.filter(({ action }: { action: string }) => action === 'app.webhook.redelivered').length, 1)
})

test('a redelivery that fails is retried for its remaining attempts', async (t) => {
  const { path, set, again } = await givenUp(t, [500])
  await set()
  await again()
  const { nextAttemptAt } = await deliveryWhen(path, ({ attempts }) => attempts.length === 2)
  const seconds = (Date.parse(nextAttemptAt ?? '') - world.now().getTime()) / 1000
  assert.ok(seconds >= 300 && seconds <= 360, String(seconds))
})

test('a disabled app and an unknown delivery cause no redelivery', async (t) => {
  const { clientId, path, set, again } = await givenUp(t)
  await set()
  await ask('PATCH', clientId, { status: 'disabled' })
  assert.equal((await again()).json().error, 'webhook_disabled')
  const unknown = await ask('POST', `${path}/deliveries/00000000-0000-4000-8000-000000000000/send`)
  assert.deepEqual([unknown.statusCode, unknown.json().error], [404, 'delivery_not_found'])
  await ask('DELETE', path)
  assert.equal((await again()).json().error, 'webhook_not_found')
})

test('the owner of an app sees that its receiver responded 410', async (t) => {
  const sender = startSender(world.kernel)
  t.after(() => sender.stop())
  const receiver = await startWebhookReceiver([410])
  t.after(receiver.close)
  const { headers } = await world.person()
  const payload = { name: 'Ledger', redirectUris: ['https://ledger.example/callback'] }
  const app = await world.api.inject({ method: 'POST', url: '/api/developer/apps', headers, payload })
  const path = `${app.json().clientId}/webhook`
  await ask('PUT', path, { url: receiver.url })
  await ask('POST', `${path}/test`)
  await deliveryWhen(path, ({ state }) => state === 'failed')
  const activity = await world.api.inject({ url: '/api/account/activity', headers })
  assert.partialDeepStrictEqual(activity.json().entries[0], { action: 'app.webhook.disabled' })
})
