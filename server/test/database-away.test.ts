import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test, type TestContext } from 'node:test'
import { openTestDatabase } from '#testing/database.ts'
import { freePorts, launch, startService } from '#testing/service.ts'
import { startPostgres } from '../../tools/postgres.ts'

const isShared = process.env['TEST_DATABASE_URL'] !== undefined

/** Starts the service with an unusable database; returns its output and exit. */
async function startOver(databaseUrl: string) {
  const {
    ready,
    process: child,
    output,
  } = launch({
    PATH: process.env['PATH'] ?? '',
    DATABASE_URL: databaseUrl,
    SECRET_KEY: randomBytes(32).toString('base64'),
    ADMIN_TOKEN: randomBytes(32).toString('hex'),
    LOG_LEVEL: 'error',
    WORKERS: '1',
  })
  await assert.rejects(ready)
  return { said: output(), code: child.exitCode }
}

test('NET-07 an unknown database host is reported in one line with its name', async () => {
  const { said, code } = await startOver('postgres://user:a-password@no-such-host.invalid/countersign')
  assert.match(said, /^DATABASE_URL leads to no-such-host\.invalid:5432, which is an unknown host name[^\n]*\n$/)
  assert.doesNotMatch(said, /a-password/)
  assert.equal(code, 1)
})

test('NET-07 without a listening database, the start waits for a while and ends with one line', async () => {
  const [port] = await freePorts(1)
  const began = performance.now()
  const { said, code } = await startOver(`postgres://user:a-password@127.0.0.1:${port}/countersign`)
  assert.match(
    said,
    new RegExp(
      `^DATABASE_URL leads to 127\\.0\\.0\\.1:${port}, where no PostgreSQL responds \\(ECONNREFUSED\\)[^\\n]*\\n$`,
    ),
  )
  assert.doesNotMatch(said, /a-password/)
  assert.equal(code, 1)
  assert.ok(performance.now() - began > 9000)
})

/** Listens like a proxy or pooler without a database: answers a connection with some bytes, and closes it. */
async function listenWithout(t: TestContext, answer: Buffer): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(answer)))
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}

/** An error message of the PostgreSQL protocol. */
function refusal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

test('NET-08 during a failover the start waits for a while and ends with one line', async (t) => {
  const during: [Buffer, RegExp][] = [
    [Buffer.alloc(0), /^DATABASE_URL leads to [^\n]*, where no PostgreSQL responds \(no answer\)[^\n]*\n$/],
    [refusal('08P01', 'server login failed'), /^DATABASE_URL leads to [^\n]*\(server login failed\)[^\n]*\n$/],
    [refusal('53300', 'too many clients'), /^DATABASE_URL leads to [^\n]*\(too many clients\)[^\n]*\n$/],
    [refusal('25006', 'read only'), /^DATABASE_URL leads to [^\n]*, which is read-only[^\n]*\n$/],
  ]
  const startAfter = async ([answer, expected]: [Buffer, RegExp]) => {
    const port = await listenWithout(t, answer)
    const began = performance.now()
    const { said, code } = await startOver(`postgres://user:a-password@127.0.0.1:${port}/countersign`)
    assert.match(said, expected)
    assert.equal(code, 1)
    assert.ok(performance.now() - began > 9000)
  }
  await Promise.all(during.map(startAfter))
})

test('NET-07 a missing file of the authority is named at once', async () => {
  const path = '/no-such-folder/authority.pem'
  const { said, code } = await startOver(`postgres://u:p@127.0.0.1:1/x?sslmode=verify-full&sslrootcert=${path}`)
  assert.match(said, /^DATABASE_URL names the file \/no-such-folder\/authority\.pem, which does not exist[^\n]*\n$/)
  assert.equal(code, 1)
})

if (isShared) {
  const wrong: Record<string, [(url: URL) => void, RegExp]> = {
    'an unknown database': [(url) => (url.pathname = '/no_such_one'), /^DATABASE_URL names the database no_such_one/],
    'a wrong password': [
      (url) => (url.password = 'a-password'),
      /^DATABASE_URL has a user or password that .* rejects/,
    ],
    'an unknown user': [(url) => (url.username = 'nobody_here'), /^DATABASE_URL has a user .*nobody_here/],
    'TLS without support': [(url) => (url.search = '?sslmode=verify-full'), /^DATABASE_URL leads to .*SSL/],
  }
  for (const [what, [spoil, expected]] of Object.entries(wrong))
    test(`NET-07 ${what} is reported in one line with instructions`, async (t) => {
      const made = await openTestDatabase()
      assert.ok(made)
      t.after(() => made.drop())
      const url = new URL(made.url)
      spoil(url)
      const { said, code } = await startOver(url.href)
      assert.match(said, expected)
      assert.match(said, /^[^\n]+\n$/)
      assert.doesNotMatch(said, /a-password|node_modules/)
      assert.equal(code, 1)
    })

  test('STO-50 a service whose replica is away starts, is ready and exports, and says so once', async (t) => {
    const [port] = await freePorts(1)
    const replica = `postgres://reader:a-password@127.0.0.1:${port}/countersign`
    const service = await startService({ environment: { DATABASE_READ_URL: replica } })
    t.after(() => service.close())
    assert.equal((await fetch(`${service.baseUrl}/readyz`)).status, 200)
    for (let nth = 0; nth < 2; nth += 1) {
      const url = `${service.baseUrl}/api/admin/audit/export?format=jsonl`
      const answer = await fetch(url, { headers: service.admin })
      assert.equal(answer.status, 200)
      assert.match(await answer.text(), /^\{/)
    }
    await service.wrote((output) => output.includes('replica not used'))
    await service.end()
    assert.deepEqual(service.output().match(/"reason":"ECONNREFUSED","msg":"replica not used"/g)?.length, 1)
    assert.doesNotMatch(service.output(), /a-password/)
  })

  test('NET-08 the start waits for a database that becomes available a little later', async (t) => {
    const cluster = await startPostgres()
    await cluster.stop()
    const [api, auth, business] = await freePorts(3)
    const running = launch({
      PATH: process.env['PATH'] ?? '',
      BASE_URL: `http://localhost:${api}`,
      AUTH_URL: `http://localhost:${auth}`,
      BUSINESS_URL: `http://localhost:${business}`,
      DATABASE_URL: cluster.url,
      SECRET_KEY: randomBytes(32).toString('base64'),
      ADMIN_TOKEN: randomBytes(32).toString('hex'),
      WORKERS: '1',
    })
    t.after(async () => {
      running.process.kill('SIGKILL')
      await cluster[Symbol.asyncDispose]()
    })
    await running.wrote((output) => output.includes('waiting for the database'))
    await cluster.start()
    await running.ready
    assert.equal((await fetch(`http://localhost:${api}/readyz`)).status, 200)
  })
}
