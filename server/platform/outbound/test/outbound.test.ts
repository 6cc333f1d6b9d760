import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { test, type TestContext } from 'node:test'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createOutboundClient, isPublicAddress, OutboundError } from '#platform/outbound/fetch.ts'

const local = { baseUrl: new URL('http://localhost:4400') }
const hosted = { baseUrl: new URL('https://api.id.example.com') }
const sent = { headers: {}, body: '{}', withinMilliseconds: 5000 }

/** Creates a resolver of an attacker, with the given responses in order. */
function resolving(...answers: string[][]) {
  const requested: string[] = []
  return {
    requested,
    resolver: (
      name: string,
      _: object,
      callback: (error: null, found: { address: string; family: number }[]) => void,
    ) => {
      const answer = answers[Math.min(requested.push(name), answers.length) - 1] ?? []
      callback(
        null,
        answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    },
  }
}

/** Opens a local port that counts connections. */
async function openPort(t: TestContext) {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return { port: address.port, connections: () => connections }
}

test('WHK-04 an address is public unless it belongs to a private network, this machine or no host', () => {
  const inner =
    '0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 127.0.0.1 127.255.0.1 169.254.169.254 172.16.0.1 ' +
    '172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1 ' +
    '239.255.255.250 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 ' +
    '::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1:: 3fff::1 5f00::1 ' +
    'fc00::1 fd12:3456::1 fe80::1 fe80::1%lo fec0::1 ff02::1 2606:4700::1111%lo'
  for (const address of inner.split(' ')) assert.equal(isPublicAddress(address), false, address)
  const outer =
    '1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.1.1 ' +
    '172.15.255.255 172.32.0.0 192.167.1.1 192.169.1.1 198.17.1.1 198.20.0.0 223.255.255.255 2606:4700::1111 ' +
    '2a00:1450::8a 2001:4860:4860::8888'
  for (const address of outer.split(' ')) assert.equal(isPublicAddress(address), true, address)
  for (const nonsense of ['', 'localhost', '127.1', '0x7f.0.0.1', '2130706433', '1.1.1.1 ', '1.1.1.1/8'])
    assert.equal(isPublicAddress(nonsense), false, nonsense)
})

test('WHK-04 a URL of a private address is rejected in any spelling, before any connection', async (t) => {
  const { port, connections } = await openPort(t)
  const outbound = createOutboundClient(hosted)
  const spellings =
    '127.0.0.1 127.1 127.0.1 0 0.0.0.0 0x7f.1 0x7f000001 0X7F000001 2130706433 017700000001 0177.0.0.1 127.0.0.1. ' +
    '%31%32%37.0.0.1 169.254.169.254 0xa9fea9fe 10.0.0.1 192.168.0.1 localhost LocalHost app.localhost [::1] [::] ' +
    '[0:0:0:0:0:0:0:1] [0000::0001] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [::ffff:10.0.0.1] [fe80::1] ' +
    '[fd00::1] [ff02::1] [64:ff9b::7f00:1] [2002:7f00:1::]'
  for (const host of spellings.split(' ')) {
    const url = `https://${host}:${port}/hook`
    assert.equal(outbound.objectionTo(url), 'must not lead to a private address', host)
    await assert.rejects(outbound.post(url, sent), { reason: 'address_not_allowed' }, host)
  }
  assert.equal(connections(), 0)
})

test('WHK-05 every address of a name is checked at the time of the connection', async (t) => {
  const { port, connections } = await openPort(t)
  const url = `https://hooks.example:${port}/`
  const inner = [['127.0.0.1'], ['::1'], ['8.8.8.8', '127.0.0.1'], ['127.0.0.1', '8.8.8.8'], ['::ffff:127.0.0.1'], []]
  for (const answer of inner) {
    const { requested, resolver } = resolving(answer)
    const outbound = createOutboundClient(hosted, resolver)
    assert.equal(outbound.objectionTo(url), undefined)
    await assert.rejects(outbound.post(url, sent), { reason: 'address_not_allowed' }, answer.join())
    assert.deepEqual(requested, ['hooks.example'])
  }
  const outbound = createOutboundClient(hosted)
  for (const name of ['localhost.', hostname()]) {
    const refused = await outbound.post(`https://${name}:${port}/`, sent).catch((error: unknown) => error)
    assert.ok(
      refused instanceof OutboundError && /^(address_not_allowed|ENOTFOUND|EAI_AGAIN)$/.test(refused.reason),
      name,
    )
  }
  assert.equal(connections(), 0)
})

test('WHK-05 the checked address is the connected one: a name is looked up once', async (t) => {
  const receiver = await startWebhookReceiver([201])
  t.after(receiver.close)
  const { requested, resolver } = resolving(['127.0.0.1'], ['127.0.0.2'])
  const outbound = createOutboundClient(local, resolver)
  assert.equal((await outbound.post(`http://hooks.localhost:${receiver.port}/`, sent)).status, 201)
  assert.deepEqual(requested, ['hooks.localhost'])
  assert.equal(receiver.received[0]?.headers['host'], `hooks.localhost:${receiver.port}`)
})

test('a URL that is not plain https is rejected, even if the service is on localhost', () => {
  const objections: Record<string, RegExp> = {
    'http://hooks.example/': /https/,
    'ftp://hooks.example/': /https/,
    'file:///etc/passwd': /https/,
    'javascript:alert(1)': /https/,
    'hooks.example/': /https/,
    '': /https/,
    'https://hooks.example/ö': /https/,
    'https://hooks.example/\n': /https/,
    'https://１２７.0.0.1/': /https/,
    "https://hooks.example;script-src'unsafe-inline'/": /letters/,
    'https://hooks.example,evil.example/': /letters/,
    'https://ada:secret@hooks.example/': /password/,
    'https://ada@hooks.example/': /user name/,
    'https://hooks.example/#x': /fragment/,
    'https://hooks.example:0/': /port/,
    'https://hooks.example:65536/': /https/,
  }
  for (const outbound of [createOutboundClient(local), createOutboundClient(hosted)]) {
    for (const [url, objection] of Object.entries(objections))
      assert.match(outbound.objectionTo(url) ?? '', objection, url)
    for (const url of ['https://hooks.example', 'https://hooks.example:8443/a?b=c', 'https://1.1.1.1/'])
      assert.equal(outbound.objectionTo(url), undefined, url)
  }
  for (const url of ['http://localhost:3000/', 'http://127.0.0.1:3000/', 'https://192.168.1.7/'])
    assert.equal(createOutboundClient(local).objectionTo(url), undefined, url)
  assert.match(createOutboundClient(hosted).objectionTo('http://localhost:3000/') ?? '', /private/)
})

test('WHK-03 WHK-06 no redirect is followed, and the time limit applies', async (t) => {
  const moved = { status: 307, headers: { location: 'http://localhost:9/' } }
  const upgraded = { status: 101, headers: { connection: 'upgrade', upgrade: 'websocket' } }
  const [receiver, silent] = [
    await startWebhookReceiver([moved, upgraded, 'nothing']),
    await startWebhookReceiver(['nothing']),
  ]
  t.after(() => Promise.all([receiver.close(), silent.close()]))
  const outbound = createOutboundClient(local)
  assert.equal((await outbound.post(receiver.url, sent)).status, 307)
  await assert.rejects(outbound.post(receiver.url, sent), OutboundError)
  await assert.rejects(outbound.post(silent.url, { ...sent, withinMilliseconds: 100 }), { reason: 'timed_out' })

  const cut = new AbortController()
  const waiting = outbound.post(receiver.url, { ...sent, signal: cut.signal })
  const refused = assert.rejects(waiting, { reason: 'cut_off' })
  await receiver.has(3)
  cut.abort()
  await refused
  await assert.rejects(outbound.post(receiver.url, { ...sent, signal: cut.signal }), { reason: 'cut_off' })
  assert.equal(receiver.received.length, 3)
})

test('WHK-06 a receiver that responds byte by byte has the same time limit', async (t) => {
  const server = createServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx-slow: ')
    const dripping = setInterval(() => socket.write('a'), 10)
    socket.on('error', () => {}).on('close', () => clearInterval(dripping))
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const requested = createOutboundClient(local).post(`http://127.0.0.1:${address.port}/`, {
    ...sent,
    withinMilliseconds: 300,
  })
  await assert.rejects(requested, { reason: 'timed_out' })
})

test('WHK-07 an endless response uses no memory, because its body is not read', async (t) => {
  const { promise: hungUp, resolve } = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('close', () => resolve())
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n')
    const flood = () => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
    }
    socket.on('drain', flood)
    flood()
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  assert.equal((await createOutboundClient(local).post(`http://127.0.0.1:${address.port}/`, sent)).status, 200)
  await hungUp
})
