import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { freePorts, launch, startService, type Service } from '#testing/service.ts'

const embeddedOnly = process.env['TEST_DATABASE_URL'] === undefined

/** Started once, in an empty directory. */
let first: Service
before(async () => {
  first = await startService({ dataDirectory: await mkdtemp(join(tmpdir(), 'countersign-')) })
})
after(() => first.close())

async function status(url: string): Promise<number> {
  return (await fetch(url)).status
}

function createApp({ baseUrl, admin }: Service, name: string): Promise<Response> {
  return fetch(`${baseUrl}/api/admin/apps`, {
    method: 'POST',
    headers: { ...admin, 'content-type': 'application/json' },
    body: JSON.stringify({ name, redirectUris: ['https://app.example/callback'] }),
  })
}

test('OUT-06 the start logs all URLs and the first one to open in one line of JSON; hosts answer probes', async () => {
  const lines = first.output().trimEnd().split('\n')
  const { msg, openFirst, pages, api, organizations } = lines.map((line) => JSON.parse(line)).at(-1)
  assert.match(msg, /^Countersign .* is ready\.$/)
  assert.equal(openFirst, `${first.authUrl}/playground`)
  assert.deepEqual([pages, api, organizations], [first.authUrl, first.baseUrl, first.businessUrl])
  for (const url of [first.baseUrl, first.authUrl, first.businessUrl]) {
    assert.equal(await status(`${url}/healthz`), 200)
    assert.equal(await status(`${url}/readyz`), 200)
  }
})

test('STO-20 SIGTERM answers running requests, accepts no new ones, and ends with 0', async (t) => {
  const service = await startService()
  t.after(() => service.close())
  const slow = request(`${service.baseUrl}/api/auth/register/start`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': '42' },
  })
  const answered = once(slow, 'response')
  slow.write('{"handle":"alice","displa')
  await status(`${service.baseUrl}/healthz`)
  const ended = service.end('SIGTERM')
  await refusal(`${service.baseUrl}/healthz`)
  slow.end('yName":"Alice A"}')
  const [response] = await answered
  assert.equal(response.statusCode, 200)
  response.resume()
  assert.equal(await ended, 0)
})

test('Ctrl-C ends the process promptly', async (t) => {
  const service = await startService()
  t.after(() => service.close())
  assert.equal(await service.end('SIGINT'), 0)
})

test('a port in use is named in one line', async (t) => {
  const [api, auth] = await freePorts(2)
  const directory = await mkdtemp(join(tmpdir(), 'countersign-'))
  t.after(() => rm(directory, { recursive: true }))
  const settings = {
    ...first.settings,
    DATA_DIR: directory,
    BASE_URL: `http://localhost:${api}`,
    AUTH_URL: `http://localhost:${auth}`,
  }
  const port = new URL(first.businessUrl).port
  await assert.rejects(launch(settings).ready, new RegExp(`Port ${port} is in use`))
})

test('an invalid setting ends the start with one line that names it', async () => {
  const {
    process: child,
    ready,
    output,
  } = launch({ PATH: process.env['PATH'] ?? '', BASE_URL: 'http://id.example.com' })
  await assert.rejects(ready)
  assert.equal(child.exitCode, 1)
  assert.match(output(), /^BASE_URL must use https[^\n]*\n$/)
})

test('with PORT all hosts share a listener and are distinguished by name', async (t) => {
  const [port] = await freePorts(1)
  const service = await startService({
    environment: {
      PORT: String(port),
      BASE_URL: 'http://api.localhost:9',
      AUTH_URL: 'http://id.localhost:9',
      BUSINESS_URL: 'http://business.localhost:9',
    },
  })
  t.after(() => service.close())
  const ask = (host: string, path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path, headers: { host } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
  assert.equal(await ask('id.localhost:9', '/.well-known/openid-configuration'), 200)
  assert.equal(await ask('api.localhost:9', '/login'), 421)
  assert.equal(await ask('api.localhost:9', '/openapi.json'), 200)
  assert.equal(await ask('business.localhost:9', '/readyz'), 200)
  assert.equal(await ask('evil.example', '/healthz'), 421)
})

test('STO-01 acknowledged data survives kill -9', async (t) => {
  const service = await startService()
  t.after(() => service.close())
  const acknowledged: string[] = []
  const writing = (async () => {
    for (let count = 0; ; count += 1) {
      const answer = await createApp(service, `App ${count}`)
      const { clientId }: { clientId: string } = JSON.parse(await answer.text())
      acknowledged.push(clientId)
      if (count === 30) service.process.kill('SIGKILL')
    }
  })()
  await assert.rejects(writing)

  const again = launch(service.settings)
  await again.ready
  t.after(() => again.process.kill('SIGKILL'))
  const list = await fetch(`${service.baseUrl}/api/admin/apps`, { headers: service.admin })
  const { apps }: { apps: { clientId: string }[] } = JSON.parse(await list.text())
  const ids = new Set(apps.map((app) => app.clientId))
  for (const clientId of acknowledged) assert.ok(ids.has(clientId))
  assert.ok(acknowledged.length >= 30)
  const closed = once(again.process, 'close')
  again.process.kill('SIGTERM')
  await closed
})

if (embeddedOnly) {
  test('STO-03 a second process on the data directory is rejected at once, and the first one continues', async () => {
    const [api, auth, business] = await freePorts(3)
    const second = launch({
      ...first.settings,
      BASE_URL: `http://localhost:${api}`,
      AUTH_URL: `http://localhost:${auth}`,
      BUSINESS_URL: `http://localhost:${business}`,
    })
    await assert.rejects(second.ready, /DATA_DIR \S+ is in use/)
    assert.equal(second.process.exitCode, 1)
    assert.equal((await createApp(first, 'Still here')).status, 201)
  })

  test('STO-05 an unusable data directory is named in one line', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'countersign-'))
    t.after(() => rm(directory, { recursive: true }))
    const file = join(directory, 'file')
    await writeFile(file, '')
    const { ready, output } = launch({ PATH: process.env['PATH'] ?? '', DATA_DIR: join(file, 'data') })
    await assert.rejects(ready)
    assert.match(output(), /^DATA_DIR cannot be used[^\n]*\n$/)
  })

  test('generated files are readable by their owner only', async () => {
    const modes = await Promise.all(
      ['.', 'secret-key'].map(async (name) => (await stat(join(first.settings.DATA_DIR, name))).mode & 0o777),
    )
    assert.deepEqual(modes, [0o700, 0o600])
  })
}

/** Resolves when the address accepts no connections any more. */
async function refusal(url: string): Promise<void> {
  for (;;)
    try {
      await fetch(url, { headers: { connection: 'close' } })
    } catch {
      return
    }
}
