import assert from 'node:assert/strict'
import { type TestContext, after, before, test } from 'node:test'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import { failDeliveriesOfDisabled, pruneFormerDeliveries } from '#clients/webhooks/delivery.ts'
import { startSender } from '#clients/webhooks/sender.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
const url = 'https://ledger.example/hook'

async function ask(method: Method, path: string, payload?: object, headers = world.admin) {
  const answer = await world.api.inject({ method, url: path, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.body === '' ? undefined : answer.json() }
}

/** Queues this many deliveries to a webhook, of which some wait for their next attempt and the others have arrived. */
async function fill(receiverId: string, { waiting, delivered = 0 }: { waiting: number; delivered?: number }) {
  await sql`
    with filled as (
      insert into webhook_delivery (receiver_id, delivery_id, type, payload, state, attempts, created_at,
        next_attempt_at)
      select ${receiverId}, gen_random_uuid(), 'webhook.test', case when nth <= ${waiting}::integer then '{}' end,
        case when nth <= ${waiting}::integer then 'pending' else 'delivered' end, 1, ${world.now()}::timestamptz,
        case when nth <= ${waiting}::integer then ${world.now()}::timestamptz end
      from generate_series(1, ${waiting + delivered}::integer) nth
      returning receiver_id, delivery_id, state
    )
    insert into webhook_attempt (receiver_id, delivery_id, attempt, attempted_at, response_status)
    select receiver_id, delivery_id, 1, ${world.now()}::timestamptz, case when state = 'pending' then 503 else 204 end
    from filled`.execute(world.db)
}

async function count(table: 'webhook_delivery' | 'webhook_attempt'): Promise<number> {
  const counted = world.db.selectFrom(table).select(({ fn }) => fn.countAll<string>().as('count'))
  return Number((await counted.executeTakeFirstOrThrow()).count)
}

async function statesOf(receiverId: string): Promise<Record<string, number>> {
  const rows = world.db.selectFrom('webhook_delivery').where('receiver_id', '=', receiverId)
  const states = rows.select(['state', ({ fn }) => fn.countAll<string>().as('count')]).groupBy('state')
  return Object.fromEntries((await states.execute()).map(({ state, count: of }) => [state, Number(of)]))
}

/** Has the cleanup delete what is left of removed webhooks, 20 rows at a time. Returns the batches. */
async function cleanUp(): Promise<number[]> {
  const batches: number[] = []
  while (batches.at(-1) !== 0) batches.push(await pruneFormerDeliveries(world.db, world.now(), 20))
  return batches
}

async function register(person: Person): Promise<ClientId> {
  const payload = { name: 'Ledger', redirectUris: ['https://ledger.example/callback'] }
  const { body } = await ask('POST', '/api/developer/apps', payload, person.headers)
  await ask('PUT', `/api/developer/apps/${body.clientId}/webhook`, { url }, person.headers)
  return asId<ClientId>(body.clientId)
}

async function startReceiver(t: TestContext) {
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const sender = startSender(world.kernel)
  t.after(() => sender.stop())
  return receiver
}

test('GRW-54 a webhook is removed at once with any number of deliveries, which no webhook after it gets', async (t) => {
  const app = await world.app()
  const path = `/api/admin/apps/${app.clientId}/webhook`
  await ask('PUT', path, { url })
  await fill(app.clientId, { waiting: 1025, delivered: 20 })
  assert.equal((await ask('DELETE', path)).status, 204)
  assert.equal(await count('webhook_delivery'), 1045, 'the request leaves them to the cleanup')
  for (const gone of [path, `${path}/deliveries`])
    assert.equal((await ask('GET', gone)).body.error, 'webhook_not_found', gone)

  const receiver = await startReceiver(t)
  const { secret } = (await ask('PUT', path, { url: receiver.url })).body
  assert.match(secret, /^whsec_/)
  assert.deepEqual((await ask('GET', `${path}/deliveries`)).body.deliveries, [])
  const { deliveryId } = (await ask('POST', `${path}/test`)).body
  const [first] = await receiver.has(1)
  assert.equal(first?.headers['webhook-id'], deliveryId, 'the new webhook gets new events alone')
  assert.deepEqual(await cleanUp(), [20, 20, 5, 0])
  assert.equal(await count('webhook_delivery'), 1)
  assert.equal((await ask('POST', `${path}/secret`, { graceSeconds: 60 })).status, 201)
  await ask('POST', `${path}/test`)
  assert.equal((await receiver.has(2)).length, 2)
  const { deliveries } = (await ask('GET', `${path}/deliveries`)).body
  assert.deepEqual(
    deliveries.map((each: { type: string }) => each.type),
    ['webhook.test', 'webhook.test'],
  )
})

test('a webhook that is set again, with another URL, keeps its deliveries', async () => {
  const app = await world.app()
  const path = `/api/admin/apps/${app.clientId}/webhook`
  await ask('PUT', path, { url })
  await fill(app.clientId, { waiting: 2, delivered: 3 })
  assert.equal((await ask('PUT', path, { url: `${url}/2` })).status, 200)
  assert.equal((await ask('GET', `${path}/deliveries`)).body.deliveries.length, 5)
})

test('GRW-54 so is one of the service, an app with its webhook, and the account of its developer', async () => {
  const service = (await ask('POST', '/api/admin/webhooks', { url })).body.webhook.webhookId
  const operated = await world.app()
  await ask('PUT', `/api/admin/apps/${operated.clientId}/webhook`, { url })
  const ada = await world.person()
  const [one, other] = [await register(ada), await register(ada)]
  for (const [receiverId, path, headers] of [
    [service, `/api/admin/webhooks/${service}`, world.admin],
    [operated.clientId, `/api/admin/apps/${operated.clientId}`, world.admin],
    [one, `/api/developer/apps/${one}`, ada.headers],
    [other, '/api/account?apps=delete', ada.headers],
  ] as const) {
    const before = [await count('webhook_delivery'), await count('webhook_attempt')]
    await fill(receiverId, { waiting: 10, delivered: 20 })
    assert.equal((await ask('DELETE', path, undefined, headers)).status, 204, path)
    assert.deepEqual(await statesOf(receiverId), { delivered: 20, pending: 10 }, 'the request leaves them')
    assert.deepEqual(await cleanUp(), [20, 10, 0])
    assert.deepEqual([await count('webhook_delivery'), await count('webhook_attempt')], before)
  }
})

test('GRW-55 a webhook that is disabled while many events wait sends none, and they fail in batches', async (t) => {
  const { webhookId } = (await ask('POST', '/api/admin/webhooks', { url })).body.webhook
  const path = `/api/admin/webhooks/${webhookId}`
  await fill(webhookId, { waiting: 1045 })
  assert.equal((await ask('PATCH', path, { status: 'disabled' })).status, 200)
  assert.deepEqual(await statesOf(webhookId), { failed: 1000, pending: 45 }, 'the request leaves some to the cleanup')

  const receiver = await startReceiver(t)
  const app = await world.app()
  await ask('PUT', `/api/admin/apps/${app.clientId}/webhook`, { url: receiver.url })
  await ask('POST', `/api/admin/apps/${app.clientId}/webhook/test`)
  await receiver.has(1)
  const attempts = world.db.selectFrom('webhook_attempt').select('attempt').where('receiver_id', '=', webhookId)
  assert.ok(
    (await attempts.execute()).every(({ attempt }) => attempt === 1),
    'nothing is sent to the disabled one',
  )
  const batches = []
  while (batches.at(-1) !== 0) batches.push(await failDeliveriesOfDisabled(world.db, world.now(), 20))
  assert.deepEqual(batches, [20, 20, 5, 0])
  assert.deepEqual(await statesOf(webhookId), { failed: 1045 })

  const { deliveries } = (await ask('GET', `${path}/deliveries?limit=1`)).body
  const again = `${path}/deliveries/${deliveries[0].deliveryId}/send`
  assert.equal((await ask('POST', again)).body.error, 'webhook_disabled')
  assert.equal((await ask('DELETE', path)).status, 204)
})
