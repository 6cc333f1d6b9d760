import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { type Span, withoutStalls } from './harness/stalls.ts'
import { startWithUsers } from './load/test-user.ts'
import { describeThroughput, measureThroughput } from './load/throughput.ts'

/** Of each kind. Together they need fewer files than most machines allow a process. */
const callers = 700
const requestMilliseconds = 10_000

const kinds: Record<string, { first: string; more: string }> = {
  'say nothing': { first: '', more: '' },
  'send a header byte by byte': { first: 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ', more: 'a' },
  'send a body byte by byte': {
    first:
      'POST /api/oauth/token HTTP/1.1\r\nHost: localhost\r\n' +
      'Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n{',
    more: ' ',
  },
}

test(`LOD-02 ${3 * callers} slow callers are disconnected after ten seconds, and delay no others`, async (t) => {
  const { service, customers } = await startWithUsers(t, 4, { RATE_LIMITS: 'off' })
  const before = await measureThroughput(customers, 2000)
  const { hostname, port } = new URL(service.baseUrl)
  const lives: Record<string, Promise<Life>[]> = {}
  for (const [kind, { first, more }] of Object.entries(kinds))
    lives[kind] = Array.from({ length: callers }, () => liveSlowly(connect(Number(port), hostname), first, more))

  const meanwhile = await measureThroughput(customers, 8000)
  t.diagnostic(`before: ${describeThroughput(before)}`)
  t.diagnostic(`meanwhile: ${describeThroughput(meanwhile)}`)
  assert.ok(meanwhile.p99Milliseconds < 1000)
  for (const [kind, ends] of Object.entries(lives)) {
    const { soonest, latest } = await extremesOf(await Promise.all(ends))
    const [first, last] = [soonest, latest].map(Math.round)
    t.diagnostic(`those who ${kind} are disconnected after ${first} ms, the last after ${last} ms without stalls`)
    assert.ok(latest < requestMilliseconds + 5000, kind)
    assert.ok(soonest > requestMilliseconds - 1000, `${kind}: an honest caller has ten seconds`)
  }
})

/** A connection: the time until it was open, and from then on until the service closed it. */
type Life = { connecting: Span; open: Span }

/**
 * Returns the milliseconds until the first and the last of these connections were closed, without stalls. The service
 * may have accepted a connection before a stall that this process noticed it after. Such a stall counts for the first.
 */
async function extremesOf(lives: Life[]): Promise<{ soonest: number; latest: number }> {
  const connecting = await withoutStalls(lives.map((life) => life.connecting))
  const open = await withoutStalls(lives.map((life) => life.open))
  const stalled = lives.map(({ connecting: { from, to } }, index) => to - from - (connecting[index] ?? 0))
  const all = lives.map((life, index) => life.open.to - life.open.from + (stalled[index] ?? 0))
  return { soonest: Math.min(...all), latest: Math.max(...open) }
}

/** Sends a little each second until the connection is closed. */
async function liveSlowly(socket: Socket, first: string, more: string): Promise<Life> {
  const calledAt = performance.now()
  await once(socket, 'connect')
  const connectedAt = performance.now()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  // The test waits for the disconnection.
  socket
    .on('error', () => {})
    .resume()
    .write(first)
  const sending = setInterval(() => socket.writable && socket.write(more), 1000)
  await closed
  clearInterval(sending)
  return { connecting: { from: calledAt, to: connectedAt }, open: { from: connectedAt, to: performance.now() } }
}
