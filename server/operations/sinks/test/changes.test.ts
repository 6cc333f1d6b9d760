import assert from 'node:assert/strict'
import { after, before, mock, test } from 'node:test'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import type { Sink } from '@countersign/protocol/operations/sinks'
import { Webhook } from 'standardwebhooks'
import { pruneSinkSecrets } from '#operations/sinks/secrets.ts'
import { numberEvents } from '#platform/audit/chain.ts'
import { codeIn, type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { makeOperator } from '#testing/operators.ts'
import { type ReceivedWebhook, startWebhookReceiver } from '#testing/webhook-receiver.ts'
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

let made = 0
async function create(url: string, fields: object = {}): Promise<Sink> {
  const body = { key: `sink-${(made += 1)}`, kind: 'http', url, ...fields }
  return (await ask<{ sink: Sink }>('POST', '', body)).sink
}

async function refusalOf(method: Method, path: string, payload: object): Promise<[number, string]> {
  const answer = await send(method, path, payload)
  return [answer.statusCode, answer.json<{ error: string }>().error]
}

/** Gives an identity a verified address. */
async function verifyAddress({ identityId, headers }: Person): Promise<void> {
  const url = `/api/identities/${identityId}/email`
  await world.api.inject({ method: 'POST', url, headers, payload: { email: 'owner@example.com' } })
  const payload = { code: codeIn(await mailbox.take()) }
  const verified = await world.api.inject({ method: 'POST', url: `${url}/verify`, headers, payload })
  assert.equal(verified.statusCode, 200, verified.body)
}

test('AUD-07 a change is sent to the receiver before it takes effect, and mailed to the owners', async () => {
  const owner = await makeOperator(world, await world.person(), 'owner')
  await verifyAddress(owner)
  const [before, later] = [await startWebhookReceiver(), await startWebhookReceiver()]
  const { sinkId, key } = await create(before.url, { actions: ['operator'] })
  assert.match((await mailbox.take()).text, new RegExp(`“${key}”`))
  for (const [method, path, payload, change] of [
    ['PATCH', `/${sinkId}`, { status: 'paused' }, 'update'],
    ['PUT', `/${sinkId}/cursor`, { cursor: 0 }, 'replay'],
    ['PATCH', `/${sinkId}`, { url: later.url }, 'update'],
  ] as const) {
    const count = before.received.length
    await ask(method, path, payload)
    assert.equal(before.received.length, count + 1)
    const [event]: AuditEvent[] = JSON.parse(before.received.at(-1)?.body ?? '[]')
    assert.deepEqual([event?.action, event?.details['change']], ['sink.change_announced', change])
    assert.match((await mailbox.take()).text, new RegExp(`“${key}”`))
  }
  assert.equal(later.received.length, 0)
  await ask('DELETE', `/${sinkId}`)
  assert.match(later.received.at(-1)?.body ?? '', /sink\.change_announced/)
  await mailbox.take()
  await before.close()
  await later.close()
})

test('AUD-07 a change of a receiver that does not accept it takes effect, and is in the log twice', async () => {
  const receiver = await startWebhookReceiver([500])
  const { sinkId } = await create(receiver.url)
  assert.equal((await ask<Sink>('PATCH', `/${sinkId}`, { actions: ['group'] })).actions[0], 'group')
  await numberEvents(world.db)
  const url = '/api/admin/audit?action=sink&limit=2'
  const listed = await world.api.inject({ url, headers: world.admin })
  assert.deepEqual(
    listed.json<{ entries: AuditEvent[] }>().entries.map(({ action }) => action),
    ['sink.updated', 'sink.change_announced'],
  )
  await ask('DELETE', `/${sinkId}`)
  await receiver.close()
})

test('AUD-06 secrets are in no later answer, and stay with the receiver that they are for', async () => {
  const [own, other] = [await startWebhookReceiver(), await startWebhookReceiver()]
  const headers = { Authorization: 'Splunk secret-of-the-receiver' }
  const { sinkId } = await create(own.url, { headers })
  const answers = [
    await send('GET', ''),
    await send('GET', `/${sinkId}`),
    await send('PATCH', `/${sinkId}`, { actions: [] }),
  ]
  for (const { body } of answers) {
    assert.doesNotMatch(body, /secret-of-the-receiver|whsec_/)
    assert.match(body, /"headerNames":\["authorization"\]/)
  }
  const stored = await world.db.selectFrom('sink').selectAll().execute()
  assert.doesNotMatch(JSON.stringify(stored), /secret-of-the-receiver|whsec_/)
  const log = await world.db.selectFrom('audit_event').select('details').execute()
  assert.doesNotMatch(JSON.stringify(log), /secret-of-the-receiver|whsec_|\/hook/)

  const moved = await ask<Sink>('PATCH', `/${sinkId}`, { url: other.url })
  assert.deepEqual(moved.headerNames, [])
  assert.deepEqual(await ask('POST', `/${sinkId}/test`), { error: null })
  assert.equal(other.received.at(-1)?.headers['authorization'], undefined)
  await ask('DELETE', `/${sinkId}`)
  await own.close()
  await other.close()
})

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

test('AUD-06 AUD-07 a new secret signs once its receiver heard of it, and the former one until its end', async () => {
  const receiver = await startWebhookReceiver()
  const body = { key: 'rotated', kind: 'http', url: receiver.url }
  const { sink, secret: first } = await ask<{ sink: Sink; secret: string }>('POST', '', body)
  const secrets = [first]
  const rotate = async (graceSeconds?: number) => {
    const given = graceSeconds === undefined ? undefined : { graceSeconds }
    const answer = await ask<{ secret: string; previousUntil: string }>('POST', `/${sink.sinkId}/secret`, given)
    secrets.push(answer.secret)
    return answer.previousUntil
  }
  const signers = () => {
    const last = receiver.received.at(-1)
    return secrets.map((secret) => last !== undefined && isSignedBy(last, secret))
  }
  const signersOfTest = async () => {
    assert.deepEqual(await ask('POST', `/${sink.sinkId}/test`), { error: null })
    return signers()
  }
  const until = await rotate(60)
  assert.equal(until, new Date(world.now().getTime() + 60_000).toISOString())
  const [announced]: AuditEvent[] = JSON.parse(receiver.received[0]?.body ?? '[]')
  assert.deepEqual([announced?.action, announced?.details['change']], ['sink.change_announced', 'rotate_secret'])
  assert.deepEqual(signers(), [true, false])
  assert.deepEqual(await signersOfTest(), [true, true])
  world.pass(61)
  assert.deepEqual(await signersOfTest(), [false, true])
  assert.equal(await pruneSinkSecrets(world.db, world.now()), 1)
  await rotate(60)
  await rotate()
  assert.deepEqual(await signersOfTest(), [false, false, false, true])

  const stored = await world.db.selectFrom('sink').selectAll().execute()
  const events = await world.db.selectFrom('audit_event').selectAll().execute()
  const everything = JSON.stringify([stored, events, (await send('GET', '')).json()])
  for (const secret of secrets) assert.ok(!everything.includes(secret.slice('whsec_'.length)))
  await ask('DELETE', `/${sink.sinkId}`)
  await receiver.close()

  const syslog = await create('tls://siem.example.com:6514', { kind: 'syslog' })
  assert.deepEqual(await refusalOf('POST', `/${syslog.sinkId}/secret`, {}), [400, 'invalid_request'])
  await ask('DELETE', `/${syslog.sinkId}`)
})

test('a test sends one event at once, and says why it did not arrive', async () => {
  const receiver = await startWebhookReceiver([204, 403])
  const { sinkId } = await create(receiver.url)
  assert.deepEqual(await ask('POST', `/${sinkId}/test`), { error: null })
  const [event]: AuditEvent[] = JSON.parse(receiver.received[0]?.body ?? '[]')
  assert.equal(event?.action, 'sink.tested')
  assert.deepEqual(await ask('POST', `/${sinkId}/test`), { error: 'rejected' })
  await receiver.close()
  assert.deepEqual(await ask('POST', `/${sinkId}/test`), { error: 'unreachable' })
  await ask('DELETE', `/${sinkId}`)
})

test('AUD-06 there are ten sinks at most, each with a key of its own; a cursor only moves back', async () => {
  const url = 'http://localhost:9/hook'
  const sinks: Sink[] = []
  for (let nth = 0; nth < 10; nth += 1) sinks.push(await create(url, { key: `limit-${nth}` }))
  assert.deepEqual(await refusalOf('POST', '', { key: 'limit-0', kind: 'http', url }), [409, 'sink_exists'])
  assert.deepEqual(await refusalOf('POST', '', { key: 'limit-10', kind: 'http', url }), [409, 'too_many_sinks'])
  const [first] = sinks
  assert.ok(first)
  const cursor = first.cursor + 1
  assert.deepEqual(await refusalOf('PUT', `/${first.sinkId}/cursor`, { cursor }), [409, 'cursor_ahead'])
  for (const { sinkId } of sinks) await ask('DELETE', `/${sinkId}`)
  assert.deepEqual(await refusalOf('PATCH', `/${first.sinkId}`, {}), [404, 'sink_not_found'])
})

test('invalid URLs, headers, certificates and actions are refused', async () => {
  const http = { key: 'invalid', kind: 'http', url: 'https://siem.example.com/audit' }
  const syslog = { key: 'invalid', kind: 'syslog', url: 'tls://siem.example.com:6514' }
  const bodies = [
    { ...http, url: 'ftp://siem.example.com' },
    { ...http, url: 'http://siem.example.com/audit' },
    { ...http, url: 'https://user:password@siem.example.com/' },
    { ...http, headers: { cookie: 'a=b' } },
    { ...http, headers: { 'webhook-id': 'a' } },
    { ...http, headers: { 'x-index': 'a\r\nhost: b' } },
    { ...http, headers: { 'X-Index': 'a', 'x-index': 'b' } },
    { ...http, caPem: 'no certificate' },
    { ...http, actions: ['DROP'] },
    { ...http, kind: 'otlp' },
    { ...http, key: 'Not a key' },
    { ...syslog, url: 'tls://siem.example.com' },
    { ...syslog, url: 'tls://siem.example.com:6514/path' },
    { ...syslog, url: 'https://siem.example.com' },
    { ...syslog, headers: { 'x-index': 'a' } },
  ]
  for (const body of bodies)
    assert.deepEqual(await refusalOf('POST', '', body), [400, 'invalid_request'], JSON.stringify(body))
})
