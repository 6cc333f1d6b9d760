import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { startDocumentHost } from '#testing/document-host.ts'
import { createOutboundClient } from '#platform/outbound/fetch.ts'

const local = { baseUrl: new URL('http://localhost:4400') }
const hosted = { baseUrl: new URL('https://api.id.example.com') }
const requested = { bodyBytesMax: 5120, withinMilliseconds: 5000 }

async function host(t: TestContext) {
  const started = await startDocumentHost()
  t.after(started.close)
  return started
}

/** Opens a local port that counts connections and sends a text, or disconnects without one. */
async function rawPort(t: TestContext, said: string) {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.on('error', () => {}).write(said)
    if (said === '') socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return { port: address.port, connections: () => connections }
}

const resolvingTo =
  (input: string[], ...answers: string[]) =>
  (name: string, _: object, callback: (error: null, found: { address: string; family: number }[]) => void) => {
    const address = answers[Math.min(input.push(name), answers.length) - 1] ?? ''
    callback(null, [{ address, family: address.includes(':') ? 6 : 4 }])
  }

test('a document is the JSON of a 200 response, with its caching headers', async (t) => {
  const documents = await host(t)
  const outbound = createOutboundClient(local)
  const headers = { 'content-type': 'application/client+json; charset=utf-8', 'cache-control': 'max-age=60', age: '5' }
  const url = documents.answer('/document', { headers, body: '{"a":["ü"]}' })
  assert.deepEqual(await outbound.get(url, requested), { json: { a: ['ü'] }, cacheControl: 'max-age=60', age: '5' })
  const sent = documents.requested[0]?.headers
  assert.deepEqual([sent?.accept, sent?.cookie], ['application/json', undefined])

  const refused: Record<string, [Parameters<typeof documents.answer>[1], string]> = {
    '/created': [{ status: 201, body: '{}' }, 'status_201'],
    '/error': [{ status: 500, body: '{}' }, 'status_500'],
    '/html': [{ headers: { 'content-type': 'text/html' }, body: '{}' }, 'not_json'],
    '/text-json': [{ headers: { 'content-type': 'text/json' }, body: '{}' }, 'not_json'],
    '/half': [{ body: '{"a":' }, 'not_json'],
    '/latin': [{ body: Buffer.from('{"a":"\xfc"}', 'latin1') }, 'not_json'],
    '/broken': [
      (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': '9' })
          .end('{}', () => response.destroy()),
      'ECONNRESET',
    ],
  }
  for (const [path, [answer, reason]] of Object.entries(refused))
    await assert.rejects(outbound.get(documents.answer(path, answer), requested), { reason }, path)
})

test('a document has at most 5000 members', async (t) => {
  const documents = await host(t)
  const outbound = createOutboundClient(local)
  const members = (count: number) => `[${Array.from({ length: count }, (_, n) => `{":${n}":":"}`).join()}]`
  const fetched = (path: string, count: number) =>
    outbound.get(documents.answer(path, { body: members(count) }), { ...requested, bodyBytesMax: 100_000 })
  assert.deepEqual((await fetched('/most', 5000)).json, JSON.parse(members(5000)))
  await assert.rejects(fetched('/more', 5001), { reason: 'too_large' })
})

test('SRF-01 SRF-02 SRF-05 a document is fetched from no private address, in any spelling or scheme', async (t) => {
  const canary = await rawPort(t, '')
  const outbound = createOutboundClient(hosted)
  const inner =
    '127.0.0.1 127.8.8.8 127.1 127.0.1 0 0.0.0.0 0x7f.1 0x7f000001 0X7F000001 2130706433 017700000001 ' +
    '0177.0.0.1 127.0.0.1. %31%32%37.0.0.1 169.254.169.254 0xa9fea9fe 2852039166 10.0.0.1 172.16.0.1 ' +
    '192.168.0.1 100.64.0.1 localhost LocalHost app.localhost [::1] [::] [0:0:0:0:0:0:0:1] ' +
    '[::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [::ffff:10.0.0.1] [fe80::1] [fd00::1] ' +
    '[fd00:ec2::254] [ff02::1] [64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [2002:7f00:1::]'
  const others = [
    ...[
      'file:///etc/passwd',
      'gopher://a.example/',
      'ftp://a.example/',
      'data:application/json,{}',
      'javascript:1',
      '',
    ],
    ...['http://a.example/c', 'http://a.example:80/c', 'http://localhost/c', `http://127.0.0.1:${canary.port}/c`],
    ...[22, 25, 80, 5432, 8443, 65_535].map((port) => `https://1.1.1.1:${port}/c`),
    ...[
      'https://ada@a.example/c',
      'https://ada:b@a.example/c',
      'https://a.example@127.0.0.1/c',
      'https://a.example/c#d',
    ],
    ...['https://a.example\t/c', ' https://127.0.0.1/c', '//127.0.0.1/c', '127.0.0.1'],
  ]
  const urls = inner.split(' ').flatMap((name) => [`https://${name}/c`, `https://${name}:${canary.port}/c`])
  for (const url of [...urls, ...others])
    await assert.rejects(outbound.get(url, requested), { reason: 'address_not_allowed' }, url)
  assert.equal(canary.connections(), 0)
})

test('SRF-09 a host name in another script is rejected, and an escaped one is checked after decoding', async () => {
  const outbound = createOutboundClient(hosted)
  const names =
    'ｌocalhost 127。0。0。1 １２７.0.0.1 %EF%BD%8Cocalhost ⑫7.0.0.1 local%C2%ADhost %E2%91%AB7.0.0.1 bücher.example'
  for (const name of names.split(' '))
    await assert.rejects(outbound.get(`https://${name}/c`, requested), { reason: 'address_not_allowed' }, name)
})

test('SRF-01 SRF-03 the address at the time of the connection is checked', async (t) => {
  const documents = await host(t)
  for (const inner of ['127.0.0.1', '::1', '169.254.169.254', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '10.1.2.3']) {
    const input: string[] = []
    const outbound = createOutboundClient(hosted, resolvingTo(input, inner))
    await assert.rejects(
      outbound.get('https://metadata.example/c', requested),
      { reason: 'address_not_allowed' },
      inner,
    )
    assert.deepEqual(input, ['metadata.example'])
  }
  assert.equal(documents.connections(), 0)

  // A second look-up would return another address, but there is only one.
  const input: string[] = []
  const outbound = createOutboundClient(local, resolvingTo(input, '127.0.0.1', '127.0.0.2'))
  documents.answer('/c', { body: '{}' })
  assert.deepEqual((await outbound.get(`http://app.localhost:${documents.port}/c`, requested)).json, {})
  assert.deepEqual(input, ['app.localhost'])
  assert.equal(documents.requested[0]?.headers.host, `app.localhost:${documents.port}`)
})

test('SRF-04 no document causes a redirect', async (t) => {
  const documents = await host(t)
  const canary = await rawPort(t, '')
  for (const status of [300, 301, 302, 303, 307, 308]) {
    const location = `http://127.0.0.1:${canary.port}/`
    const url = documents.answer(`/${status}`, {
      status,
      headers: { location, refresh: `0; url=${location}` },
      body: '{}',
    })
    await assert.rejects(createOutboundClient(local).get(url, requested), { reason: `status_${status}` })
  }
  assert.equal(canary.connections(), 0)
})

test('SRF-06 a slow, endless, compressed or oversized response is cut', async (t) => {
  const documents = await host(t)
  /** Only a response that never ends has so little time: what is cut for another reason may take longer to arrive. */
  const limitFor = (reason: string) => (reason === 'timed_out' ? { ...requested, withinMilliseconds: 200 } : requested)
  const outbound = createOutboundClient(local)
  const flood = Buffer.alloc(65_536, ' ')
  const reasons: Record<string, [Parameters<typeof documents.answer>[1], string]> = {
    '/endless': [
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const pour = () =>
          void (response.destroyed || (response.write(flood) ? setImmediate(pour) : response.once('drain', pour)))
        pour()
      },
      'too_large',
    ],
    '/a-byte-too-many': [{ body: `"${'a'.repeat(5119)}"` }, 'too_large'],
    '/bomb': [{ headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(10_000_000, ' ')) }, 'compressed'],
    '/slow': [
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).write('{')
        const drip = setInterval(() => response.write(' '), 20)
        response.on('close', () => clearInterval(drip))
      },
      'timed_out',
    ],
    '/silent': [() => {}, 'timed_out'],
  }
  for (const [path, [answer, reason]] of Object.entries(reasons))
    await assert.rejects(outbound.get(documents.answer(path, answer), limitFor(reason)), { reason }, path)
  documents.answer('/full', { body: `"${'a'.repeat(5118)}"` })
  assert.equal(String((await outbound.get(documents.at('/full'), requested)).json).length, 5118)

  const headers = Array.from({ length: 10_000 }, (_, nth) => `x-${nth}: 1\r\n`).join('')
  const early = 'HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n'.repeat(1000)
  const talkative = await rawPort(t, `HTTP/1.1 200 OK\r\n${headers}content-type: application/json\r\n\r\n{}`)
  const overflown = 'HPE_HEADER_OVERFLOW'
  await assert.rejects(outbound.get(`http://localhost:${talkative.port}/`, requested), { reason: overflown })
  const hesitant = await rawPort(t, early)
  const tooLate = 'timed_out'
  await assert.rejects(outbound.get(`http://localhost:${hesitant.port}/`, limitFor(tooLate)), { reason: tooLate })
})

test('SRF-07 a proxy in the environment is not used', async (t) => {
  const documents = await host(t)
  const proxy = await rawPort(t, '')
  documents.answer('/c', { body: '{"read":true}' })
  const program = `
    const { createOutboundClient } = await import(process.argv[1])
    const outbound = createOutboundClient({ baseUrl: new URL('http://localhost:4400') })
    const { json } = await outbound.get(process.argv[2], { bodyBytesMax: 99, withinMilliseconds: 5000 })
    console.log(JSON.stringify(json), await fetch(process.argv[2]).then(() => 'read', () => 'by the proxy'))`
  const named = `http://127.0.0.1:${proxy.port}`
  const env = {
    PATH: process.env['PATH'],
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: named,
    http_proxy: named,
    HTTPS_PROXY: named,
    ALL_PROXY: named,
  }
  const outbound = fileURLToPath(new URL('../fetch.ts', import.meta.url))
  const running = promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', program, outbound, documents.at('/c')],
    { env, timeout: 20_000 },
  )
  const { stdout } = await running
  // Other code in that process does use the proxy, which disconnects.
  assert.match(stdout, /^{"read":true} by the proxy/)
  assert.deepEqual([documents.requested.length, proxy.connections()], [1, 1])
})
