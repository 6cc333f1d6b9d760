import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { transaction } from '#platform/database/database.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type Person, type World } from '#testing/world.ts'
import { ringBell } from '#clients/webhooks/bell.ts'
import { enqueueWebhooks, type WebhookType } from '#clients/webhooks/delivery.ts'
import { startSender } from '#clients/webhooks/sender.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** An app that a person has registered, and whose webhook goes there. */
async function appOf({ headers }: Person, url: string): Promise<string> {
  const payload = { name: 'An app', redirectUris: ['https://app.example/callback'] }
  const created = await world.api.inject({ method: 'POST', url: '/api/developer/apps', headers, payload })
  assert.equal(created.statusCode, 201, created.body)
  const { clientId } = created.json<{ clientId: string }>()
  const path = `/api/developer/apps/${clientId}/webhook`
  const set = await world.api.inject({ method: 'PUT', url: path, headers, payload: { url } })
  assert.equal(set.statusCode, 200, set.body)
  return clientId
}

const tell = (clientIds: string[], type: WebhookType = 'webhook.test') =>
  transaction(world.db, (tx) => {
    const events = clientIds.map((clientId) => ({ clientId, type, data: { clientId } }))
    return enqueueWebhooks(tx, events, world.now())
  })

const silence = (count: number) => Array<'nothing'>(count).fill('nothing')
const times = <Item>(count: number, item: Item) => Array<Item>(count).fill(item)

/** A sender, and a receiver that says this. They end with the test. */
async function stage(t: TestContext, sayings: Parameters<typeof startWebhookReceiver>[0]) {
  const receiver = await startWebhookReceiver(sayings)
  t.after(receiver.close)
  const sender = startSender(world.kernel)
  t.after(() => sender.stop())
  return receiver
}

/** How long it takes until the app of an honest person hears of its event. */
async function untilHeard(t: TestContext, others: { received: unknown[] } = { received: [] }) {
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const clientId = await appOf(await world.person(), receiver.url)
  const [began, before] = [performance.now(), others.received.length]
  await tell([clientId])
  await receiver.has(1)
  return { milliseconds: performance.now() - began, overtaking: others.received.length - before }
}

test('FAI-01 four apps whose receiver never answers, with 52 events, delay no webhook of another app', async (t) => {
  const silent = await stage(t, silence(200))
  const eve = await world.person()
  const apps = [
    await appOf(eve, silent.url),
    await appOf(eve, silent.url),
    await appOf(eve, silent.url),
    await appOf(eve, silent.url),
  ]
  await tell(times(13, apps).flat())
  await silent.has(4)
  const { milliseconds } = await untilHeard(t)
  assert.ok(milliseconds < 2000, `after ${milliseconds} ms`)
})

test('FAI-02 fifty apps of one owner whose receivers never answer delay no webhook of another', async (t) => {
  const silent = await stage(t, silence(1000))
  const eve = await world.person()
  const apps: string[] = []
  while (apps.length < 50) apps.push(await appOf(eve, silent.url))
  await tell(times(10, apps).flat(), 'signing.expired')
  await silent.has(4)
  for (let round = 0; round < 3; round += 1) {
    const { milliseconds } = await untilHeard(t)
    assert.ok(milliseconds < 2000, `after ${milliseconds} ms in round ${round}`)
    await silent.has(4 * (round + 2))
  }
})

test('FAI-03 eight owners whose receivers never answer take every slot for a second and no longer', async (t) => {
  const silent = await stage(t, silence(1000))
  const apps: string[] = []
  while (apps.length < 8) apps.push(await appOf(await world.person(), silent.url))
  await tell(times(10, apps).flat())
  await silent.has(16)
  const { milliseconds } = await untilHeard(t)
  assert.ok(milliseconds < 3000, `after ${milliseconds} ms`)
})

test('FAI-04 a receiver that failed gets its events in the slow lane, and leaves it once it answers', async (t) => {
  const receiver = await stage(t, [500])
  const ada = await world.person()
  const clientId = await appOf(ada, receiver.url)
  const slowUntil = async () => {
    const endpoints = world.db.selectFrom('webhook_endpoint').select('slow_until').where('client_id', '=', clientId)
    return (await endpoints.executeTakeFirstOrThrow()).slow_until
  }
  await tell([clientId])
  await receiver.has(1)
  // The embedded database answers without ever giving the network its turn.
  while ((await slowUntil()) === null) await pause(10)
  // Where the machine is slow, an answer that came at once may count as late: the next one does not.
  let events = 1
  while ((await slowUntil()) !== null) {
    await tell([clientId])
    events += 1
    await receiver.has(events)
    await pause(10)
  }
  world.pass(10)
  ringBell()
  await receiver.has(events + 1)
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.equal(ids[0], ids.at(-1), 'what failed is sent again under its id')
})

for (const [owners, senders] of [
  [20, 1],
  [60, 2],
] as const)
  test(`FAI-22 ${owners} owners with backlogs delay no webhook of another, with ${senders} senders`, async (t) => {
    const late = await stage(t, times(2000, { status: 204, afterMilliseconds: 850 }))
    const apps: string[] = []
    while (apps.length < owners) apps.push(await appOf(await world.person(), late.url))
    await tell(times(20, apps).flat())
    for (let nth = 1; nth < senders; nth += 1) {
      const other = startSender(world.kernel)
      t.after(() => other.stop())
    }
    for (const round of [1, 2]) {
      await late.has(16 * senders * round)
      const { milliseconds, overtaking } = await untilHeard(t, late)
      // What is under way comes first, and what was claimed with it, of 400 or 1,200 that wait: on a slow machine too.
      assert.ok(overtaking <= 2 * 16 * senders, `after ${overtaking} others, ${milliseconds} ms, in round ${round}`)
    }
  })
