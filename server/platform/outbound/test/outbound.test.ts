import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { test, type TestContext } from 'node:test'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createOutbound, isPublicAddress, Unreachable } from '#platform/outbound/fetch.ts'

const local = { baseUrl: new URL('http://localhost:4400') }
const hosted = { baseUrl: new URL('https://api.id.example.com') }
const sent = { headers: {}, body: '{}', withinMilliseconds: 5000 }

/** Names that somebody else decides on: each answer in its turn. */
function resolving(...answers: string[][]) {
  const asked: string[] = []
  return {
    asked,
    resolver: (
      name: string,
      _: object,
      callback: (error: null, found: { address: string; family: number }[]) => void,
    ) => {
      const answer = answers[Math.min(asked.push(name), answers.length) - 1] ?? []
      callback(
        null,
        answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    },
  }
}

/** A port of this machine that counts who comes. */
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

test('WHK-04 an address is public where the Internet has it, not where it is of a network, machine or nobody', () => {
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

test('WHK-04 a URL that leads inwards is objected to however it is written, before anybody connects', async (t) => {
  const { port, connections } = await openPort(t)
  const outbound = createOutbound(hosted)
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

test('WHK-05 a name is looked at by each address that it has when it is connected to', async (t) => {
  const { port, connections } = await openPort(t)
  const url = `https://hooks.example:${port}/`
  const inner = [['127.0.0.1'], ['::1'], ['8.8.8.8', '127.0.0.1'], ['127.0.0.1', '8.8.8.8'], ['::ffff:127.0.0.1'], []]
  for (const answer of inner) {
    const { asked, resolver } = resolving(answer)
    const outbound = createOutbound(hosted, resolver)
    assert.equal(outbound.objectionTo(url), undefined)
    await assert.rejects(outbound.post(url, sent), { reason: 'address_not_allowed' }, answer.join())
    assert.deepEqual(asked, ['hooks.example'])
  }
  const outbound = createOutbound(hosted)
  for (const name of ['localhost.', hostname()]) {
    const refused = await outbound.post(`https://${name}:${port}/`, sent).catch((error: unknown) => error)
    assert.ok(
      refused instanceof Unreachable && /^(address_not_allowed|ENOTFOUND|EAI_AGAIN)$/.test(refused.reason),
      name,
    )
  }
  assert.equal(connections(), 0)
})

test('WHK-05 the address that was looked at is the one that is connected to: a name is asked for once', async (t) => {
  const receiver = await startWebhookReceiver([201])
  t.after(receiver.close)
  const { asked, resolver } = resolving(['127.0.0.1'], ['127.0.0.2'])
  const outbound = createOutbound(local, resolver)
  assert.equal((await outbound.post(`http://hooks.localhost:${receiver.port}/`, sent)).status, 201)
  assert.deepEqual(asked, ['hooks.localhost'])
  assert.equal(receiver.received[0]?.headers['host'], `hooks.localhost:${receiver.port}`)
})

test('what is no plain https URL is objected to, also where the service is on localhost', () => {
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
    'https://ada:secret@hooks.example/': /password/,
    'https://ada@hooks.example/': /user name/,
    'https://hooks.example/#x': /fragment/,
    'https://hooks.example:0/': /port/,
    'https://hooks.example:65536/': /https/,
  }
  for (const outbound of [createOutbound(local), createOutbound(hosted)]) {
    for (const [url, objection] of Object.entries(objections))
      assert.match(outbound.objectionTo(url) ?? '', objection, url)
    for (const url of ['https://hooks.example', 'https://hooks.example:8443/a?b=c', 'https://1.1.1.1/'])
      assert.equal(outbound.objectionTo(url), undefined, url)
  }
  for (const url of ['http://localhost:3000/', 'http://127.0.0.1:3000/', 'https://192.168.1.7/'])
    assert.equal(createOutbound(local).objectionTo(url), undefined, url)
  assert.match(createOutbound(hosted).objectionTo('http://localhost:3000/') ?? '', /private/)
})

test('WHK-03 WHK-06 no redirect is followed, and nobody is waited for longer than was said', async (t) => {
  const moved = { status: 307, headers: { location: 'http://localhost:9/' } }
  const upgraded = { status: 101, headers: { connection: 'upgrade', upgrade: 'websocket' } }
  const receiver = await startWebhookReceiver([moved, upgraded, 'nothing', 'nothing'])
  t.after(receiver.close)
  const outbound = createOutbound(local)
  assert.equal((await outbound.post(receiver.url, sent)).status, 307)
  await assert.rejects(outbound.post(receiver.url, sent), Unreachable)
  await assert.rejects(outbound.post(receiver.url, { ...sent, withinMilliseconds: 100 }), { reason: 'timed_out' })

  const cut = new AbortController()
  const waiting = outbound.post(receiver.url, { ...sent, signal: cut.signal })
  const refused = assert.rejects(waiting, { reason: 'cut_off' })
  await receiver.has(4)
  cut.abort()
  await refused
  await assert.rejects(outbound.post(receiver.url, { ...sent, signal: cut.signal }), { reason: 'cut_off' })
  assert.equal(receiver.received.length, 4)
})

test('WHK-06 a receiver that answers letter by letter is waited for no longer than another', async (t) => {
  const server = createServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx-slow: ')
    const dripping = setInterval(() => socket.write('a'), 10)
    socket.on('error', () => {}).on('close', () => clearInterval(dripping))
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const asked = createOutbound(local).post(`http://127.0.0.1:${address.port}/`, { ...sent, withinMilliseconds: 300 })
  await assert.rejects(asked, { reason: 'timed_out' })
})

test('WHK-07 an answer without an end takes no memory: its body is not read', async (t) => {
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
  assert.equal((await createOutbound(local).post(`http://127.0.0.1:${address.port}/`, sent)).status, 200)
  await hungUp
})
