import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { approvalMessage } from '@countersign/protocol/formats/signing/approval'
import { writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import { newSigningPair, secondWayToWrite } from '../../server/testing/signer.ts'
import { startStopwatch } from '../../server/testing/stopwatch.ts'
import { createCountersign, CountersignError, verifySignature } from '../src/server/server.ts'

const payload = 'Pay 10 € to Bob'
const pair = newSigningPair()
const requestId = randomUUID()
const identityId = randomUUID()
const resolvedAt = '2030-01-01T12:00:00.000Z'
const inFiveMinutes = () => new Date(Date.now() + 300_000).toISOString()

type Reply = { status?: number; headers?: Record<string, string>; body?: unknown } | 'hang up'

function openedUntil(expiresAt: string): Reply {
  return { status: 201, body: { requestId, publicKey: pair.publicKey, expiresAt } }
}

/** A service that returns given replies one after another, and then repeats the last one. */
async function openLiar(t: TestContext, replies: Reply[], opened = openedUntil(inFiveMinutes())) {
  const requestedAt: number[] = []
  const server = createServer((request, response) => {
    request.resume()
    if (request.method === 'POST') return say(response, opened)
    requestedAt.push(performance.now())
    say(response, replies[Math.min(requestedAt.length, replies.length) - 1] ?? 'hang up')
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the lying service has no port')
  const baseUrl = `http://localhost:${address.port}`
  const app = createCountersign({ baseUrl, authUrl: baseUrl, clientId: 'app_test', clientSecret: 'cs_test' })
  return { ...app, baseUrl, requested: requestedAt, ask: () => app.createSigningRequest({ identityId, payload }) }
}

function say(response: ServerResponse, reply: Reply): void {
  if (reply === 'hang up') return void response.destroy()
  const { status = 200, headers = {}, body } = reply
  response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
}

const statusOf = (fields: object) => ({
  body: { requestId, publicKey: pair.publicKey, expiresAt: inFiveMinutes(), resolvedAt, ...fields },
})
const pending = statusOf({ status: 'pending' })
const signed = statusOf({ status: 'signed', signature: pair.sign(payload) })

const other = newSigningPair()
const smallOrder = Buffer.from(`01${'00'.repeat(31)}`, 'hex')
const signsEverything = Buffer.concat([smallOrder, Buffer.alloc(32)]).toString('base64')

const lies = [
  { what: 'SIG-10 a signature over another text', fields: { signature: pair.sign('Pay 1,000 € to Mallory') } },
  { what: 'SIG-10 a signature by another key', fields: { signature: other.sign(payload) } },
  {
    what: 'SIG-22 a signature by another key, which the service names as the expected one',
    fields: { signature: other.sign(payload), publicKey: other.publicKey },
  },
  { what: 'SIG-13 a signature in a second encoding', fields: { signature: secondWayToWrite(pair.sign(payload)) } },
  {
    what: 'SIG-12 a key for which every signature verifies',
    fields: { signature: signsEverything, publicKey: smallOrder.toString('base64') },
  },
  { what: 'no signature', fields: {} },
]
for (const { what, fields } of lies)
  test(`${what} is rejected, whatever the service reports`, async (t) => {
    const liar = await openLiar(t, [pending, statusOf({ status: 'signed', ...fields })])
    const waiting = liar.waitForSignature(await liar.ask())
    await assert.rejects(waiting, (error) => error instanceof CountersignError && error.code === 'invalid_signature')
  })

test('SIG-12 a key for which every signature verifies is rejected, even if it was named at first', async (t) => {
  const publicKey = smallOrder.toString('base64')
  const liar = await openLiar(t, [statusOf({ status: 'signed', signature: signsEverything, publicKey })])
  const waiting = liar.waitForSignature({ ...(await liar.ask()), publicKey })
  await assert.rejects(waiting, (error) => error instanceof CountersignError && error.code === 'invalid_signature')
})

const nonsense: { what: string; reply: Reply }[] = [
  { what: 'the answer of another request', reply: statusOf({ requestId: randomUUID(), status: 'denied' }) },
  { what: 'an unknown status', reply: statusOf({ status: 'approved', signature: pair.sign(payload) }) },
  { what: 'a signature that is not a string', reply: statusOf({ status: 'signed', signature: [pair.sign(payload)] }) },
  { what: 'no JSON', reply: { body: '<h1>signed</h1>' } },
  { what: 'nothing at all', reply: { body: null } },
  { what: 'a missing page', reply: { status: 404, body: '<h1>Not found</h1>' } },
]
for (const { what, reply } of nonsense)
  test(`${what} is an unexpected response`, async (t) => {
    const liar = await openLiar(t, [reply])
    const waiting = liar.waitForSignature(await liar.ask())
    await assert.rejects(waiting, (error) => error instanceof CountersignError && error.code === 'unexpected_response')
    assert.equal(liar.requested.length, 1)
  })

test('a secret is not sent to the target of a redirect', async (t) => {
  const listener = await openLiar(t, [signed])
  const location = `${listener.baseUrl}/api/signing/request`
  const liar = await openLiar(t, [signed], { status: 302, headers: { location } })
  await assert.rejects(liar.ask(), (error) => error instanceof CountersignError && error.status === 302)
  assert.equal(listener.requested.length, 0)
})

test('network failures, restarts and overload are retried, not earlier than the service requests', async (t) => {
  const away = { status: 503, headers: { 'retry-after': '1' }, body: { error: 'temporarily_unavailable' } }
  const crowded = { status: 429, headers: { 'retry-after': '1' }, body: { error: 'rate_limited' } }
  const proxy = { status: 502, body: '<h1>Bad gateway</h1>' }
  const liar = await openLiar(t, ['hang up', away, crowded, proxy, pending, signed])
  const outcome = await liar.waitForSignature(await liar.ask())
  assert.ok(outcome.status === 'signed' && verifySignature(outcome))
  const [, first = 0, second = 0, third = 0, fourth = 0, fifth = 0, ...more] = liar.requested
  for (const [earlier, later] of [
    [first, second],
    [second, third],
    [fourth, fifth],
  ] as const)
    assert.ok(later - earlier > 950)
  assert.deepEqual(more, [])
})

test('waiting ends soon after the expiry of a request', async (t) => {
  const now = new Date().toISOString()
  const replies: Reply[] = [pending, 'hang up', { status: 503, headers: { 'retry-after': '3600' }, body: {} }]
  for (const reply of replies) {
    const liar = await openLiar(t, [reply], openedUntil(now))
    using watch = startStopwatch()
    const waiting = liar.waitForSignature(await liar.ask(), { graceSeconds: 0.2 })
    await assert.rejects(waiting, CountersignError)
    assert.ok(watch.milliseconds() < 5000)
  }
})

/** Approves a statement with this key, as its owner would. */
function approvalOf(changes: Record<string, unknown>, expiry: string) {
  const statement = {
    ...{ app: { clientId: 'app_test', name: 'Shop', origins: [] }, challenge: 'A'.repeat(43), handle: 'ada' },
    ...{ challengedAt: '2030-01-01T12:00:00.000Z', createdAt: '2030-01-01T12:00:00.000Z', expiresAt: expiry },
    ...{
      identityId,
      keyVersion: 1,
      organization: null,
      publicKey: pair.publicKey,
      requestId,
      role: 'self',
      version: 2,
    },
    ...{ payloadSha256: createHash('sha256').update(payload).digest('base64'), ...changes },
  }
  const presence = createHash('sha256').update('assertion').digest()
  const signature = pair.signBytes(approvalMessage(statement, presence))
  return { statement: writeCanonicalJson(statement), signature, presence: presence.toString('base64') }
}

test('SGN-32 SGN-41 an approval of anything but the request of the app, or of another time, is refused', async (t) => {
  const expiry = '2030-01-01T12:05:00.000Z'
  const outcomeOf = async (change: (issuer: string) => object) => {
    const replies: Reply[] = []
    const liar = await openLiar(t, replies, openedUntil(expiry))
    const approval = { ...approvalOf({ issuer: liar.baseUrl }, expiry), ...change(liar.baseUrl) }
    replies.push(statusOf({ status: 'signed', signature: pair.sign(payload), approval }))
    return liar.waitForSignature(await liar.ask())
  }
  const approved = await outcomeOf(() => ({}))
  assert.ok(approved.status === 'signed' && approved.approval)
  assert.deepEqual(approved.unproved, [])
  const lies: Record<string, unknown>[] = [
    { requestId: randomUUID() },
    { issuer: 'https://id.example' },
    { role: 'sign' },
    { expiresAt: '2030-01-01T13:00:00.000Z' },
    { createdAt: '2030-01-01T11:00:00.000Z', challengedAt: '2030-01-01T11:44:59.000Z' },
    { payloadSha256: createHash('sha256').update('Pay 1,000 €').digest('base64') },
  ]
  for (const lie of lies)
    await assert.rejects(
      outcomeOf((issuer) => approvalOf({ issuer, ...lie }, expiry)),
      { code: 'invalid_approval' },
      JSON.stringify(lie),
    )
  await assert.rejects(
    outcomeOf(() => ({ presence: undefined })),
    { code: 'invalid_approval' },
  )
  await assert.rejects(
    outcomeOf(() => ({ statement: 7 })),
    { code: 'unexpected_response' },
  )
})
