import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { startService, type Service } from '#testing/service.ts'

let service: Service
before(async () => {
  service = await startService({ environment: { LOG_LEVEL: 'debug' } })
})
after(() => service.close())

type Line = { requestId?: string; route?: string; status?: number; refusal?: string; reason?: string }

/** Returns the answer to exactly these bytes, until the service closes the connection. */
function send(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(service.baseUrl).port), 'localhost')
  socket.write(bytes, 'latin1')
  return answerOn(socket)
}

/** Returns the data until the connection was closed; the server may close it before the request is complete. */
function answerOn(socket: Socket): Promise<string> {
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => void (answer += chunk))
  return new Promise((resolve) => socket.on('error', () => {}).once('close', () => resolve(answer)))
}

/** Returns the log lines of a request, once there is one for which `holds` is true. */
async function logged(holds: (line: Line) => boolean): Promise<Line[]> {
  for (;;) {
    const lines = service.output().split('\n').slice(0, -1)
    const found = lines.filter((line) => line.startsWith('{')).map((line): Line => JSON.parse(line))
    if (found.some(holds)) return found.filter(holds)
    await fetch(`${service.baseUrl}/healthz`)
  }
}

const post = 'POST /api/auth/login/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
const smuggled: Record<string, string> = {
  'a length and chunks': `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  'two lengths': `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `,
  'a length with a sign': `${post}Content-Length: +2\r\n\r\n{}`,
  'a folded header': `${post}X-Folded: a\r\n b\r\nContent-Length: 2\r\n\r\n{}`,
  'a bare line feed': `${post}X-Bare: a\nContent-Length: 2\r\n\r\n{}`,
  'a space before the colon': `${post}Content-Length : 2\r\n\r\n{}`,
  'chunked twice': `${post}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
  'chunked, but not at the end': `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
  'a chunk length that is none': `${post}Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n`,
  'a carriage return in a header': `${post}X-Return: a\rb\r\nContent-Length: 2\r\n\r\n{}`,
}
for (const [what, bytes] of Object.entries(smuggled))
  test(`INJ-13 ${what} is rejected, and the connection is closed`, async () => {
    const answer = await send(`${bytes}GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    assert.match(answer, /^HTTP\/1\.1 400 /)
    assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1)
    assert.doesNotMatch(service.output(), /smuggled/)
  })

test('LOG-04 a request that is not HTTP logs one line with reason and request ID', async () => {
  const answer = await send('NONSENSE\r\n\r\n')
  const [, body = ''] = answer.split('\r\n\r\n')
  assert.equal(JSON.parse(body).error, 'invalid_request')
  const requestId = /x-request-id: (\S+)/.exec(answer)?.[1]
  assert.ok(requestId)
  const [line, ...others] = await logged((each) => each.requestId === requestId)
  assert.deepEqual([line?.status, line?.refusal, line?.reason], [400, 'invalid_request', 'HPE_INVALID_METHOD'])
  assert.equal(others.length, 0)
})

const rejected: Record<string, [path: string, init: RequestInit, status: number, refusal: string]> = {
  'an unknown path': ['/nothing', {}, 404, 'not_found'],
  'a wrong method': ['/healthz', { method: 'DELETE' }, 405, 'method_not_allowed'],
  'another type': ['/api/oauth/token', { method: 'POST', body: 'x' }, 415, 'unsupported_media_type'],
  'no session': ['/api/auth/session', {}, 401, 'unauthorized'],
  'a wrong admin token': ['/api/admin/apps', { headers: { authorization: 'Bearer x' } }, 401, 'invalid_token'],
  'a page of another host': ['/login', {}, 421, 'misdirected_request'],
}
for (const [what, [path, init, status, refusal]] of Object.entries(rejected))
  test(`LOG-04 ${what} logs one line with the reason and the request ID`, async () => {
    const answer = await fetch(service.baseUrl + path, init)
    const { error } = JSON.parse(await answer.text())
    assert.deepEqual([answer.status, error], [status, refusal])
    const requestId = answer.headers.get('x-request-id')
    const lines = await logged((each) => each.requestId === requestId)
    assert.deepEqual(
      lines.map((line) => [line.status, line.refusal]),
      [[status, refusal]],
    )
  })

test('a preflight request that is answered logs no refusal', async () => {
  const answer = await fetch(`${service.baseUrl}/api/oauth/token`, { method: 'OPTIONS' })
  const requestId = answer.headers.get('x-request-id')
  const [line] = await logged((each) => each.requestId === requestId)
  assert.deepEqual([answer.status, line?.status, line?.refusal], [204, 204, undefined])
})

test('TOK-12 a header of 100 kB is rejected as too large', async () => {
  const answer = await send(`GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${'A'.repeat(100_000)}`)
  assert.match(answer, /^HTTP\/1\.1 431 /)
})

test('LOD-03 one byte too many is rejected, and endless chunks are cut', async () => {
  const body = (bytes: number) => `"${'a'.repeat(bytes - 2)}"`
  const sized = (bytes: number) => `${post}Content-Length: ${bytes}\r\nConnection: close\r\n\r\n${body(bytes)}`
  assert.match(await send(sized(65_536)), /^HTTP\/1\.1 400 /)
  assert.match(await send(sized(65_537)), /^HTTP\/1\.1 413 [\s\S]*payload_too_large/)

  const socket = connect(Number(new URL(service.baseUrl).port), 'localhost')
  const answer = answerOn(socket)
  socket.write(`${post}Transfer-Encoding: chunked\r\n\r\n`)
  const chunk = `1000\r\n${'a'.repeat(4096)}\r\n`
  let chunks = 0
  const writing = setInterval(() => {
    chunks += 1
    if (socket.writable) socket.write(chunk)
  }, 1)
  assert.match(await answer, /^HTTP\/1\.1 413 [\s\S]*payload_too_large/)
  clearInterval(writing)
  assert.ok(chunks < 2000)
})

test('INJ-10 line breaks, escapes and a megabyte log one short line', async () => {
  const marker = randomBytes(8).toString('hex')
  const evil = `${marker}\r\n\u001b[31m{"level":60,"msg":"forged"}`
  await fetch(`${service.baseUrl}/${encodeURIComponent(evil)}?${encodeURIComponent(evil)}`, {
    headers: { 'user-agent': `${marker}${'A'.repeat(8000)}`, 'x-request-id': marker },
  })
  const registered = await fetch(`${service.baseUrl}/api/auth/register/start`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ handle: evil, displayName: evil }),
  })
  assert.equal(registered.status, 400)
  const requestId = registered.headers.get('x-request-id')
  assert.equal((await logged((line) => line.requestId === requestId)).length, 1)
  const output = service.output()
  assert.ok(!output.includes(marker) && !output.includes('forged') && !output.includes('\u001b'))
  assert.ok(output.split('\n').every((line) => line.length < 2000))
})

test('LOD-07 no host speaks HTTP/2, neither by its preface nor by an upgrade', async () => {
  const preface = await send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0')
  assert.match(preface, /^HTTP\/1\.1 4\d\d /)
  const upgrade = 'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'
  for (const { origin } of [service.baseUrl, service.authUrl, service.businessUrl].map((url) => new URL(url))) {
    const socket = connect(Number(new URL(origin).port), 'localhost')
    socket.write(`GET /healthz HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`)
    assert.match(await answerOn(socket), /^HTTP\/1\.1 (200|400|404) /, origin)
  }
})

test('HDR-08 unsupported methods are rejected, and a header overrides none', async () => {
  const raw = (method: string) =>
    send(`${method} /healthz HTTP/1.1\r\nHost: localhost\r\nX-Secret: canary\r\nConnection: close\r\n\r\n`)
  const traced = await raw('TRACE')
  assert.match(traced, /^HTTP\/1\.1 40[45] /)
  assert.doesNotMatch(traced, /canary/)
  assert.doesNotMatch(await send('CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n'), / 200 /)
  for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
    const answer = await fetch(`${service.baseUrl}/api/auth/session?_method=DELETE`, {
      method: 'POST',
      headers: { [name]: 'DELETE' },
    })
    assert.equal(answer.status, 405, name)
  }
})

test('HDR-05 personal answers are not cacheable, and public ones have a lifetime', async () => {
  const cached = async (url: string, init: RequestInit = {}) =>
    (await fetch(url, { ...init, redirect: 'manual' })).headers.get('cache-control') ?? ''
  const asForm = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=b' }
  for (const path of ['/api/auth/session', '/api/oauth/userinfo', '/api/identities', '/api/admin/apps'])
    assert.match(await cached(service.baseUrl + path), /no-store/, path)
  assert.match(await cached(`${service.baseUrl}/api/oauth/token`, asForm), /no-store/)
  assert.match(await cached(`${service.authUrl}/account`), /no-store/)
  for (const path of ['/.well-known/openid-configuration', '/.well-known/jwks.json'])
    assert.match(await cached(service.authUrl + path), /max-age=\d+/, path)
})

test('HDR-06 no page can be framed by another site', async () => {
  for (const path of [
    '/',
    '/login',
    '/register',
    '/signin',
    '/sign',
    '/logout',
    '/account',
    '/connect',
    '/recover',
    '/nothing-here',
  ]) {
    const answer = await fetch(service.authUrl + path, { headers: { accept: 'text/html' } })
    assert.match(answer.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, path)
  }
})

test('HDR-03 an origin of null gets no readable answer for session endpoints', async () => {
  for (const origin of ['null', 'https://evil.example']) {
    const read = await fetch(`${service.baseUrl}/api/auth/session`, { headers: { origin, cookie: 'countersign=x' } })
    assert.equal(read.headers.get('access-control-allow-origin'), null)
    assert.equal(read.headers.get('access-control-allow-credentials'), null)
    const ended = await fetch(`${service.baseUrl}/api/auth/session`, {
      method: 'DELETE',
      headers: { origin, cookie: 'countersign=x' },
    })
    assert.ok([401, 403].includes(ended.status))
  }
})

test('HDR-07 a host header, or a similar one, changes no link and no issuer', async () => {
  const spoofed = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'gopher', forwarded: 'host=evil.example' }
  for (const url of [`${service.authUrl}/.well-known/openid-configuration`, `${service.authUrl}/login`]) {
    const answer = await fetch(url, { headers: { ...spoofed, accept: 'text/html, application/json' } })
    const said = `${await answer.text()} ${JSON.stringify([...answer.headers])}`
    assert.doesNotMatch(said, /evil\.example|gopher/)
  }
  const named = await send('GET /openapi.json HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')
  assert.doesNotMatch(named, /evil\.example/)
})
