import assert from 'node:assert/strict'
import { type TestContext, after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { ClientId } from '@countersign/protocol/ids'
import { transaction } from '#platform/database/database.ts'
import { createHostResolver } from '#platform/outbound/host-lookup.ts'
import { createOutboundClient } from '#platform/outbound/fetch.ts'
import { startNameServer } from '#testing/name-server.ts'
import { startStopwatch } from '#testing/stopwatch.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { type Person, type TestWorld, createWorld } from '#testing/world.ts'
import { enqueueWebhooks, notifySender } from '#clients/webhooks/delivery.ts'
import { startSender } from '#clients/webhooks/sender.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** Registers an app of a user with this webhook URL. */
async function appOf({ headers }: Person, url: string): Promise<ClientId> {
  const payload = { name: 'An app', redirectUris: ['https://app.example/callback'] }
  const created = await world.api.inject({ method: 'POST', url: '/api/developer/apps', headers, payload })
  assert.equal(created.statusCode, 201, created.body)
  const { clientId } = created.json<{ clientId: ClientId }>()
  const path = `/api/developer/apps/${clientId}/webhook`
  const set = await world.api.inject({ method: 'PUT', url: path, headers, payload: { url } })
  assert.equal(set.statusCode, 200, set.body)
  return clientId
}

const notifyApps = (clientIds: ClientId[]) =>
  transaction(world.db, (tx) => {
    const events = clientIds.map((clientId) => ({ clientId, type: 'webhook.test' as const, data: { clientId } }))
    return enqueueWebhooks(tx, events, world.now())
  })

const silence = (count: number) => Array<'nothing'>(count).fill('nothing')
const times = <Item>(count: number, item: Item) => Array<Item>(count).fill(item)

/** Starts a sender and a receiver with these responses. They end with the test. */
async function stage(t: TestContext, sayings: Parameters<typeof startWebhookReceiver>[0]) {
  const receiver = await startWebhookReceiver(sayings)
  t.after(receiver.close)
  const sender = startSender(world.kernel)
  t.after(() => sender.stop())
  return receiver
}

/** Creates the app of another user, with its receiver. */
async function listener(t: TestContext) {
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  return { receiver, clientId: await appOf(await world.person(), receiver.url) }
}

/** Measures how long the app of another user waits for its event. */
async function untilHeard(t: TestContext): Promise<{ milliseconds: number }> {
  const { receiver, clientId } = await listener(t)
  using watch = startStopwatch()
  await notifyApps([clientId])
  await receiver.has(1)
  return { milliseconds: watch.milliseconds() }
}

/** Counts the webhooks of others, whose answers are held, that arrive between the storing of an event and the event. */
async function countOvertaking(
  { receiver, clientId }: Awaited<ReturnType<typeof listener>>,
  others: Awaited<ReturnType<typeof stage>>,
): Promise<number> {
  await notifyApps([clientId])
  const before = others.received.length
  const heard = receiver.has(1)
  while (receiver.received.length === 0) {
    others.release()
    await Promise.race([heard, others.has(others.received.length + 1)])
  }
  return others.received.length - before
}

test('FAI-01 four apps whose receiver never responds, with 52 events, delay no webhook of another app', async (t) => {
  const silent = await stage(t, silence(200))
  const eve = await world.person()
  const apps = [
    await appOf(eve, silent.url),
    await appOf(eve, silent.url),
    await appOf(eve, silent.url),
    await appOf(eve, silent.url),
  ]
  await notifyApps(times(13, apps).flat())
  await silent.has(4)
  const { milliseconds } = await untilHeard(t)
  assert.ok(milliseconds < 2000, `after ${milliseconds} ms`)
})

test('FAI-02 fifty apps of one owner whose receivers never respond delay no webhook of another', async (t) => {
  const silent = await stage(t, silence(1000))
  const eve = await world.person()
  const apps: ClientId[] = []
  while (apps.length < 50) apps.push(await appOf(eve, silent.url))
  await notifyApps(times(10, apps).flat())
  await silent.has(4)
  for (let round = 0; round < 3; round += 1) {
    const { milliseconds } = await untilHeard(t)
    assert.ok(milliseconds < 2000, `after ${milliseconds} ms in round ${round}`)
    await silent.has(4 * (round + 2))
  }
})

test('FAI-03 eight owners whose receivers never respond use every slot for at most a second', async (t) => {
  const silent = await stage(t, silence(1000))
  const apps: ClientId[] = []
  while (apps.length < 8) apps.push(await appOf(await world.person(), silent.url))
  await notifyApps(times(10, apps).flat())
  await silent.has(16)
  const { milliseconds } = await untilHeard(t)
  assert.ok(milliseconds < 3000, `after ${milliseconds} ms`)
})

test('FAI-27 receivers of several owners whose name servers are silent delay no webhook of another', async (t) => {
  const dns = await startNameServer()
  t.after(() => dns.close())
  const outbound = createOutboundClient(world.config, createHostResolver({ nameServers: [dns.address] }))
  const sender = startSender({ ...world.kernel, outbound })
  t.after(() => sender.stop())
  const names = Array.from({ length: 8 }, (_, nth) => `silent-${nth}.example`)
  const apps: ClientId[] = []
  for (const name of names) {
    dns.stayAway(name)
    apps.push(await appOf(await world.person(), `https://${name}/hook`))
  }
  await notifyApps(apps)
  await dns.has(2 * names.length)
  const { milliseconds } = await untilHeard(t)
  assert.ok(milliseconds < 2000, `after ${milliseconds} ms`)
})

test('FAI-04 a receiver that failed gets its events in the slow lane until it responds', async (t) => {
  const receiver = await stage(t, [500])
  const ada = await world.person()
  const clientId = await appOf(ada, receiver.url)
  const slowUntil = async () => {
    const endpoints = world.db.selectFrom('webhook_endpoint').select('slow_until').where('client_id', '=', clientId)
    return (await endpoints.executeTakeFirstOrThrow()).slow_until
  }
  await notifyApps([clientId])
  await receiver.has(1)
  // The embedded database responds without yielding to the network.
  while ((await slowUntil()) === null) await pause(10)
  // On a slow machine an immediate response may count as late; the next one does not.
  let events = 1
  while ((await slowUntil()) !== null) {
    await notifyApps([clientId])
    events += 1
    await receiver.has(events)
    await pause(10)
  }
  world.pass(10)
  notifySender()
  await receiver.has(events + 1)
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.equal(ids[0], ids.at(-1), 'a failed event is repeated under its ID')
})

for (const [owners, senders] of [
  [20, 1],
  [60, 2],
] as const)
  test(`FAI-22 ${owners} owners with backlogs delay no webhook of another, with ${senders} senders`, async (t) => {
    const late = await stage(t, times(2000, 'held'))
    const apps: ClientId[] = []
    while (apps.length < owners) apps.push(await appOf(await world.person(), late.url))
    const listeners = [await listener(t), await listener(t)]
    await notifyApps(times(20, apps).flat())
    for (let nth = 1; nth < senders; nth += 1) {
      const other = startSender(world.kernel)
      t.after(() => other.stop())
    }
    for (const [nth, each] of listeners.entries()) {
      await late.has(16 * senders * (nth + 1))
      const overtaking = await countOvertaking(each, late)
      // Deliveries in progress come first, and those claimed with them, of 400 or 1,200 pending ones.
      assert.ok(overtaking <= 2 * 16 * senders, `after ${overtaking} others in round ${nth + 1}`)
      t.diagnostic(`${overtaking} others`)
    }
  })
