import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request, type RequestListener } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as rest } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { startService } from '#testing/service.ts'
import { createBoundedServer } from '#platform/process/connections.ts'

const restMilliseconds = 1000

/** Starts a server with low limits and returns a function that connects to it. */
async function listen(t: TestContext, answer: RequestListener, connectionsMax = 100) {
  const server = createBoundedServer({}, answer, { connectionsMax, restMilliseconds }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  const { port } = address(server.address())
  return { port, open: () => quiet(connect(port, '127.0.0.1')) }
}

function address(found: AddressInfo | string | null): AddressInfo {
  assert.ok(typeof found === 'object' && found !== null)
  return found
}

/** Ignores the expected error of a cut connection. */
function quiet(socket: Socket): Socket {
  return socket.on('error', () => {})
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
const kilobytes64 = Buffer.alloc(64 * 1024, 'a')
/** More than the kernel buffers for a connection that no client reads. */
const pieces = 500

test('LOD-14 connections that send requests and never read are cut and free their memory', async (t) => {
  const service = await startService({ environment: { LOG_LEVEL: 'error' }, embedded: true })
  t.after(() => service.close())
  const { hostname, port } = new URL(service.baseUrl)
  const megabytes = () =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))?.[1]) / 1024
  for (let nth = 0; nth < 50; nth += 1) await (await fetch(`${service.baseUrl}/openapi.json`)).arrayBuffer()
  const before = megabytes()
  const sockets = Array.from({ length: 600 }, (_, nth) => {
    const socket = quiet(connect(Number(port), hostname)).pause()
    socket.write(get(['/openapi.json', '/docs/json', '/docs/yaml'][nth % 3] ?? '').repeat(8))
    return { socket, closed: new Promise((resolve) => socket.once('close', resolve)) }
  })
  let most = 0
  const watching = setInterval(() => (most = Math.max(most, megabytes())), 250)
  // Data sent meanwhile keeps no connection open. A socket without a reader notices the cut only by writing.
  const poking = setInterval(() => sockets.forEach(({ socket }) => socket.write('\r\n')), 2000)
  await Promise.all(sockets.map(({ closed }) => closed))
  clearInterval(watching)
  clearInterval(poking)
  t.diagnostic(`${Math.round(before)} MB before, ${Math.round(most)} MB at most`)
  assert.ok(most < before + 150, `${before} MB before, ${most} MB at most`)
  assert.equal((await fetch(`${service.baseUrl}/healthz`)).status, 200)
})

test('LOD-14 a response continues while the client reads it, however slowly, and is cut otherwise', async (t) => {
  const { open } = await listen(t, (_request, response) => {
    Readable.from(Array.from({ length: pieces }, () => kilobytes64)).pipe(response)
  })
  const [reader, sleeper] = [open(), open()]
  for (const socket of [reader, sleeper]) socket.pause().write(get('/'))
  const startedAt = performance.now()
  let received = 0
  const ended = once(reader, 'close')
  reader.on('data', ({ length }: Buffer) => {
    received += length
    reader.pause()
  })
  const reading = setInterval(() => reader.resume(), 5)
  const whole = (async () => {
    while (received < pieces * kilobytes64.length && !reader.destroyed) await Promise.race([rest(50), ended])
  })()
  await whole
  clearInterval(reading)
  assert.ok(received >= pieces * kilobytes64.length, `${received} bytes of a whole answer`)
  assert.ok(performance.now() - startedAt > restMilliseconds, 'it took longer than the maximum time without progress')
  let ofSleeper = 0
  sleeper.on('data', ({ length }: Buffer) => (ofSleeper += length)).resume()
  await once(sleeper, 'close')
  assert.ok(ofSleeper < pieces * kilobytes64.length, 'the connection without a reader is cut')
})

test('LOD-14 a connection is not cut because the machine stood still', async (t) => {
  const { open } = await listen(t, (_request, response) => response.end('here'))
  const client = open()
  const cut = once(client, 'close').then(() => 'cut')
  client.write(get('/'))
  await once(client, 'data')
  // The server looks at its connections before the standstill and after it, and before the client sends again.
  await rest(0.3 * restMilliseconds)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * restMilliseconds)
  await rest(0.1 * restMilliseconds)
  client.write(get('/'))
  assert.equal(await Promise.race([once(client, 'data').then(() => 'answered'), cut]), 'answered')
  client.destroy()
})

test('LOD-14 a slow response and a slow request body are not cut', async (t) => {
  const { port } = await listen(t, (requested, response) => {
    requested.resume().once('end', () => setTimeout(() => response.end('here'), 2 * restMilliseconds))
  })
  const asking = request({ port, host: '127.0.0.1', method: 'POST' })
  asking.write('a')
  setTimeout(() => asking.end('b'), 2 * restMilliseconds)
  const [answer] = await once(asking, 'response')
  assert.equal(answer.statusCode, 200)
  answer.resume()
})

test('LOD-15 requests of one connection run in order, and too many at once end it', async (t) => {
  let underWay = 0
  let most = 0
  const { open } = await listen(t, (requested, response) => {
    most = Math.max(most, (underWay += 1))
    setTimeout(() => {
      underWay -= 1
      response.end(requested.url)
    }, 20)
  })
  const some = open()
  let text = ''
  some.on('data', (chunk: Buffer) => (text += chunk.toString()))
  some.write(['/a', '/b', '/c', '/d'].map(get).join(''))
  while (!text.endsWith('/d')) await once(some, 'data')
  assert.deepEqual(
    [...text.matchAll(/\r\n\r\n(\/\w)/g)].map(([, path]) => path),
    ['/a', '/b', '/c', '/d'],
  )
  assert.equal(most, 1)
  const many = open()
  many.resume().write(get('/').repeat(1000))
  await once(many, 'close')
  some.destroy()
})

test('LOD-15 connections above the limit of a process are closed until others end', async (t) => {
  const { open } = await listen(t, (_request, response) => response.end('here'), 3)
  const first = [open(), open(), open()]
  for (const socket of first) {
    socket.write(get('/'))
    await once(socket, 'data')
  }
  const surplus = open().resume()
  await once(surplus, 'close')
  const [gone] = first
  gone?.destroy()
  for (;;) {
    const next = open()
    next.write(get('/'))
    const came = await Promise.race([once(next, 'data').then(() => true), once(next, 'close').then(() => false)])
    next.destroy()
    if (came) break
  }
  for (const socket of first) socket.destroy()
})

/** Returns 'answered' when a connection has an answer, or why it ended. */
function outcomeOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', () => resolve('answered'))
    socket.on('error', ({ message }) => resolve(message))
    socket.once('close', () => resolve('closed'))
  })
}

/** Fewer than the system keeps until a server accepts them. */
const openedAtOnce = 300

/**
 * Opens connections from an address. After some, one from another address is answered: then all before it have been
 * accepted or closed. A request is sent over each only at the end, so that none is closed for resting before the last
 * is judged. Returns how many were answered, why others ended, and what became of those from the other address.
 */
async function answered(t: TestContext, { port, from, count }: { port: number; from: string; count: number }) {
  const open = (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    t.after(() => socket.destroy())
    return socket
  }
  const isConnected = (socket: Socket) =>
    new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()))
  const opened: { socket: Socket; outcome: Promise<string> }[] = []
  const ofOther: string[] = []
  while (opened.length < count) {
    const sockets = Array.from({ length: openedAtOnce }, () => open(from))
    opened.push(...sockets.map((socket) => ({ socket, outcome: outcomeOf(socket) })))
    await Promise.all(sockets.map(isConnected))
    const other = open('127.0.0.3')
    other.write(get('/healthz'))
    ofOther.push(await outcomeOf(other))
  }
  for (const { socket } of opened) socket.write(get('/healthz'))
  const ends = await Promise.all(opened.map(({ outcome }) => outcome))
  const reasons = new Set(ends.filter((end) => end !== 'answered'))
  return { count: ends.filter((end) => end === 'answered').length, reasons: [...reasons].join(', '), ofOther }
}

test('LOD-37 the connection of a trusted proxy is kept between requests longer than that of a client', async (t) => {
  const server = createBoundedServer({}, (_request, response) => response.end('here'), {
    isProxy: ({ remoteAddress }) => remoteAddress === '127.0.0.2',
    proxyIdleMilliseconds: 12_000,
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = address(server.address())
  const [client, proxy] = ['127.0.0.1', '127.0.0.2'].map((localAddress) =>
    quiet(connect({ port, host: '127.0.0.1', localAddress })),
  )
  assert.ok(client && proxy)
  for (const socket of [client, proxy]) {
    socket.write(get('/'))
    await once(socket, 'data')
  }
  await once(client.resume(), 'close')
  assert.equal(proxy.readyState, 'open')
  proxy.write('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n')
  assert.match(String(await Promise.race([once(proxy, 'data'), once(proxy, 'close')])), /^HTTP\/1\.1 200 /)
  const answeredAt = performance.now()
  await once(proxy.resume(), 'close')
  const milliseconds = performance.now() - answeredAt
  assert.ok(milliseconds > 11_500, `it was closed after ${milliseconds} ms`)
})

test('LOD-37 a trusted proxy that does not read is cut as every client', async (t) => {
  const answer: RequestListener = (_request, response) => {
    Readable.from(Array.from({ length: pieces }, () => kilobytes64)).pipe(response)
  }
  const server = createBoundedServer({}, answer, { restMilliseconds, isProxy: () => true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const sleeper = quiet(connect(address(server.address()).port, '127.0.0.1')).pause()
  const [accepted] = await once(server, 'connection')
  sleeper.write(get('/'))
  await once(accepted, 'close')
  sleeper.destroy()
})

for (const [setting, from, ofOne] of [
  ['off', '127.0.0.2', 500],
  ['off', '127.0.0.1', 600],
  ['127.0.0.9', '127.0.0.2', 500],
  ['127.0.0.2', '127.0.0.2', 600],
  ['1', '127.0.0.2', 600],
] as const)
  test(`LOD-36 of 600 connections from ${from}, ${ofOne} are accepted with TRUST_PROXY=${setting}`, async (t) => {
    const service = await startService({ environment: { LOG_LEVEL: 'error', TRUST_PROXY: setting }, embedded: true })
    t.after(() => service.close())
    const port = Number(new URL(service.baseUrl).port)
    const { count, reasons, ofOther } = await answered(t, { port, from, count: 600 })
    assert.equal(count, ofOne, reasons)
    assert.deepEqual(ofOther, ['answered', 'answered'], 'other addresses are answered')
  })
