import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { transaction } from '#platform/database/database.ts'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import type { Sink } from '@countersign/protocol/operations/sinks'
import { Webhook } from 'standardwebhooks'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { startNumbering } from '#platform/audit/chain.ts'
import { type ReceivedWebhook, startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { startSyslogReceiver } from '#testing/syslog-receiver.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { startSinkSender } from '../sender.ts'

let world: TestWorld
let working: { stop: () => Promise<void> }[] = []
before(async () => {
  world = await createWorld()
})
after(() => world.close())
afterEach(async () => {
  await Promise.all(working.map((work) => work.stop()))
  working = []
  for (const { sinkId } of (await ask<{ sinks: Sink[] }>('GET', '')).sinks) await ask('DELETE', `/${sinkId}`)
})

/** Numbers events and sends them, like a process of the service. */
function startWork(): void {
  working.push(startNumbering(world.kernel), startSinkSender(world.kernel))
}

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

async function send(method: Method, path: string, payload?: object) {
  const given = payload && { payload }
  return world.api.inject({ method, url: `/api/admin/sinks${path}`, headers: world.admin, ...given })
}

async function ask<Answer>(method: Method, path: string, payload?: object): Promise<Answer> {
  const answer = await send(method, path, payload)
  assert.ok(answer.statusCode < 300, answer.body)
  return JSON.parse(answer.body || '{}')
}

const create = (fields: object) => ask<{ sink: Sink; secret: string | null }>('POST', '', { key: 'siem', ...fields })

async function record(count: number, details: Record<string, string> = {}): Promise<void> {
  for (let nth = 0; nth < count; nth += 1)
    await recordAuditEvent(world.db, { action: 'app.updated', actor: 'system', details }, world.now())
}

const eventsIn = (received: ReceivedWebhook[]) => received.flatMap(({ body }): AuditEvent[] => JSON.parse(body))
const updatesIn = (events: AuditEvent[]) => events.filter(({ action }) => action === 'app.updated')
const placesOf = (events: AuditEvent[]) => [...new Set(events.map(({ sequence }) => sequence))]

/** Waits until a sink has the whole log. */
async function untilCaughtUp(sinkId: string): Promise<Sink> {
  for (;;) {
    const sink = await ask<Sink>('GET', `/${sinkId}`)
    if (sink.lag === 0) return sink
    await turn()
  }
}

/** Waits until so many attempts in a row have failed, and lets the time until the next one pass. */
async function passFailure(sinkId: string, count: number): Promise<void> {
  const find = world.db.selectFrom('sink').select('failures').where('sink_id', '=', sinkId)
  while ((await find.executeTakeFirstOrThrow()).failures < count) await turn()
  world.pass(2 ** count)
}

test('AUD-02 an HTTP sink gets each event as the list has it, signed, with its headers', async () => {
  const receiver = await startWebhookReceiver()
  const headers = { Authorization: 'Splunk 123', 'X-Index': 'audit' }
  const { sink, secret } = await create({ kind: 'http', url: receiver.url, headers })
  startWork()
  await record(3)
  while (updatesIn(eventsIn(receiver.received)).length < 3) await receiver.has(receiver.received.length + 1)
  const [first] = receiver.received
  assert.ok(first && secret !== null)
  assert.equal(first.headers['authorization'], 'Splunk 123')
  assert.equal(first.headers['x-index'], 'audit')
  for (const { body, headers: sent } of receiver.received) {
    const id = sent['webhook-id'] ?? ''
    assert.equal(sent['webhook-signature'], new Webhook(secret).sign(id, world.now(), body))
  }
  const listed = await world.api.inject({ url: '/api/admin/audit?limit=3', headers: world.admin })
  assert.deepEqual(updatesIn(eventsIn(receiver.received)).toReversed(), listed.json().entries)
  const { cursor, lastError, lastDeliveredAt } = await untilCaughtUp(sink.sinkId)
  assert.ok(cursor >= 3)
  assert.deepEqual([lastError, lastDeliveredAt], [null, world.now().toISOString()])
  await receiver.close()
})

test('AUD-02 a syslog sink gets each event as RFC 5424 over TLS, in ASCII, with its action', async () => {
  const receiver = await startSyslogReceiver()
  const { sink, secret } = await create({ kind: 'syslog', url: receiver.url, caPem: receiver.caPem })
  assert.equal(secret, null)
  startWork()
  await record(2, { name: 'Zoë 🦊' })
  const updates = () => receiver.messages.filter((message) => message.includes(' app.updated '))
  await receiver.until(() => updates().length === 2)
  const [, place, json = ''] =
    /^<86>1 (\S+ localhost countersign - app\.updated -) (\{.+\})$/.exec(updates()[0] ?? '') ?? []
  assert.equal(place, `${world.now().toISOString()} localhost countersign - app.updated -`)
  assert.match(json, /^[\x20-\x7e]+$/)
  const event: AuditEvent = JSON.parse(json)
  assert.deepEqual(event.details, { name: 'Zoë 🦊' })
  await untilCaughtUp(sink.sinkId)
  await receiver.close()
})

test('AUD-02 a syslog sink whose connection is reset within a batch gets all events in the end', async () => {
  const receiver = await startSyslogReceiver(['reset', 'reset'])
  const { sink } = await create({ kind: 'syslog', url: receiver.url, caPem: receiver.caPem })
  startWork()
  await record(20)
  const seen = () =>
    placesOf(updatesIn(receiver.messages.map((text): AuditEvent => JSON.parse(/\{.+$/.exec(text)?.[0] ?? ''))))
  await passFailure(sink.sinkId, 1)
  await passFailure(sink.sinkId, 2)
  await receiver.until(() => seen().length === 20)
  assert.equal((await untilCaughtUp(sink.sinkId)).lastError, null)
  await receiver.close()
})

test('AUD-02 an HTTP sink is tried again after an error, no answer or a redirect, which is not followed', async () => {
  const other = await startWebhookReceiver()
  const redirect = { status: 307, headers: { location: other.url } }
  const receiver = await startWebhookReceiver([500, redirect, 503])
  const { sink } = await create({ kind: 'http', url: receiver.url })
  startWork()
  await record(5)
  for (const count of [1, 2, 3]) {
    assert.equal((await ask<Sink>('GET', `/${sink.sinkId}`)).cursor, sink.cursor)
    await passFailure(sink.sinkId, count)
  }
  await receiver.has(4)
  await untilCaughtUp(sink.sinkId)
  assert.equal(placesOf(updatesIn(eventsIn(receiver.received.slice(3)))).length, 5)
  const [, second, third] = receiver.received
  assert.equal(second?.headers['webhook-id'], third?.headers['webhook-id'])
  assert.equal(other.received.length, 0)
  await receiver.close()
  await other.close()
})

test('AUD-02 a process that ends within an attempt loses no event: the next one sends it again', async () => {
  const receiver = await startWebhookReceiver(['nothing'])
  const { sink } = await create({ kind: 'http', url: receiver.url })
  await record(4)
  startWork()
  await receiver.has(1)
  await Promise.all(working.map((work) => work.stop()))
  assert.equal((await ask<Sink>('GET', `/${sink.sinkId}`)).lastError, null)
  startWork()
  await receiver.has(2)
  await untilCaughtUp(sink.sinkId)
  const [cut, ...others] = receiver.received
  assert.deepEqual(placesOf(eventsIn(others)).slice(0, 4), placesOf(eventsIn(cut ? [cut] : [])).slice(0, 4))
  await receiver.close()
})

test('a sink gets the actions that it selects, in batches of 500 and one megabyte at most', async () => {
  const receiver = await startWebhookReceiver()
  const { sink } = await create({ kind: 'http', url: receiver.url, actions: ['app.updated', 'group'] })
  const size = 'a'.repeat(9000)
  await transaction(world.db, async (tx) => {
    for (let nth = 0; nth < 700; nth += 1) {
      const details = nth < 200 ? { size } : {}
      await recordAuditEvent(tx, { action: 'app.updated', actor: 'system', details }, world.now())
      await recordAuditEvent(tx, { action: 'app.created', actor: 'system' }, world.now())
    }
    await recordAuditEvent(tx, { action: 'group.member.added', actor: 'system' }, world.now())
  })
  startWork()
  while (!eventsIn(receiver.received).some(({ action }) => action === 'group.member.added'))
    await receiver.has(receiver.received.length + 1)
  await untilCaughtUp(sink.sinkId)
  const events = eventsIn(receiver.received)
  assert.equal(placesOf(updatesIn(events)).length, 700)
  assert.ok(events.every(({ action }) => ['app.updated', 'group.member.added'].includes(action)))
  for (const { body } of receiver.received) assert.ok(Buffer.byteLength(body) <= 1024 * 1024 + 2000)
  await receiver.close()
})
