import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import pg from 'pg'
import { freePorts, launch, startService, type Service } from '#testing/service.ts'
import { registerApp, registerTestUser, type TestUser, type Family } from '../../faults/load/test-user.ts'

const root = join(import.meta.dirname, '../..')
const laterVersion = '99.0.0'
/** Change that a version may make to tables used by an older one at the same time: an addition. */
const laterMigration = `
create table later_thing (thing_id uuid primary key, name text not null);
${[
  'user_account',
  'identity',
  'session',
  'app',
  'app_secret',
  'token_family',
  'token_access_token',
  'authorization_consent',
]
  .map((table) => `alter table ${table} add column later text;`)
  .join('\n')}
`

let later: string
before(async () => {
  later = await makeLaterVersion(laterMigration)
})
after(() => rm(later, { recursive: true }))

/** Creates a later version of the program: with one more migration. */
async function makeLaterVersion(migration: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-later-'))
  const server = join(folder, 'server')
  await cp(join(root, 'server'), server, {
    recursive: true,
    filter: (path) => !/^dist$|(^|\/)test(ing)?$/.test(relative(join(root, 'server'), path)),
  })
  for (const name of ['node_modules', 'protocol', 'web']) await symlink(join(root, name), join(folder, name))
  const manifest = await readFile(join(server, 'package.json'), 'utf8')
  await writeFile(join(server, 'package.json'), manifest.replace(/"version": "[^"]+"/, `"version": "${laterVersion}"`))
  await writeFile(join(server, 'migrations/9999_later.sql'), migration)
  return folder
}

async function startLater(t: TestContext, settings: Service['settings']) {
  const started = launchLater(t, settings, later)
  await started.ready
  return started.process
}

function launchLater(t: TestContext, settings: Record<string, string>, folder: string) {
  const started = launch(settings, { program: join(folder, 'server/main.ts') })
  t.after(() => void started.process.kill('SIGKILL'))
  return started
}

/** Opens a separate connection to the database of a service. */
async function connectTo(t: TestContext, { settings }: Service): Promise<pg.Client> {
  assert.ok('DATABASE_URL' in settings)
  const client = new pg.Client({ connectionString: settings.DATABASE_URL })
  // The database is dropped before the connection is closed.
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  return client
}

async function end(child: Service['process']): Promise<void> {
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  await closed
}

async function connect(service: Service): Promise<{ customer: TestUser; family: Family }> {
  const customer = await registerTestUser(service, await registerApp(service))
  const family = await customer.consent()
  assert.ok(family)
  assert.equal((await customer.redeem(family))?.status, 200)
  return { customer, family }
}

test('a later version takes over the data of the older one, which then stops without harm', async (t) => {
  const service = await startService()
  t.after(() => service.close())
  const { customer, family } = await connect(service)
  await service.end()

  const first = await startLater(t, service.settings)
  assert.equal((await customer.refresh(family, family.live ?? ''))?.status, 200)
  await end(first)

  await assert.rejects(
    service.restart(),
    /contains the schema of a newer version \(9999_later\.sql\)\. Start that version/,
  )
  assert.equal(service.process.exitCode, 1)

  const again = await startLater(t, service.settings)
  assert.equal((await customer.refresh(family, family.live ?? ''))?.status, 200)
  await end(again)
})

/** Starts a load balancer: it sends each request to the next machine, and removes one when it is idle. */
async function startBalancer(t: TestContext) {
  const machines: { port: number; underWay: Set<ServerResponse> }[] = []
  const versions = new Set<string>()
  let turn = 0
  const server = createServer((requested: IncomingMessage, answer: ServerResponse) => {
    const { method, url: path, headers } = requested
    const machine = machines[(turn += 1) % machines.length]
    assert.ok(machine)
    machine.underWay.add(answer)
    answer.once('close', () => machine.underWay.delete(answer))
    const sent = request({ port: machine.port, method, path, headers, agent: false }, (got) => {
      versions.add(String(got.headers['countersign-version']))
      answer.writeHead(got.statusCode ?? 502, got.headers)
      got.pipe(answer)
    })
    sent.once('error', () => answer.destroy())
    requested.pipe(sent)
  }).listen(0)
  t.after(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return {
    origin: `http://localhost:${address.port}`,
    /** Versions that have answered. */
    versions,
    add: (port = 0) => void machines.push({ port, underWay: new Set() }),
    /** Sends no more requests to the oldest machine; resolves when it has answered all. */
    async letGo(): Promise<void> {
      const underWay = [...(machines.shift()?.underWay ?? [])]
      await Promise.all(underWay.map((answer) => once(answer, 'close')))
    },
  }
}

/** Simulates clients that refresh one after another until they are stopped. */
function refreshing(connected: Awaited<ReturnType<typeof connect>>[]) {
  const received = new EventEmitter()
  const stopped = new AbortController()
  let refreshed = 0
  const turns = connected.map(async ({ customer, family }) => {
    while (!stopped.signal.aborted) {
      const reply = await customer.refresh(family, family.live ?? '')
      assert.equal(reply?.status, 200, JSON.stringify(reply?.body ?? 'no answer'))
      assert.equal((await customer.userinfo(family.access.at(-1) ?? ''))?.status, 200)
      await customer.signIn()
      refreshed += 1
      received.emit('refreshed')
    }
  })
  const ended = Promise.all(turns)
  ended.catch(() => {})
  return {
    /** Resolves when there are at least `count` more; rejects if one has failed. */
    async more(count: number): Promise<void> {
      for (let each = 0; each < count; each += 1) await Promise.race([ended, once(received, 'refreshed')])
    },
    /** Stops and returns the number of refreshes. */
    async stop(): Promise<number> {
      stopped.abort()
      await ended
      return refreshed
    },
  }
}

if (process.env['TEST_DATABASE_URL'] !== undefined)
  test('SUP-09 upgrading the machines of one PostgreSQL one after another fails no refresh', async (t) => {
    const balancer = await startBalancer(t)
    const hosts = { BASE_URL: balancer.origin, AUTH_URL: balancer.origin, BUSINESS_URL: balancer.origin }
    const [firstPort, secondPort] = await freePorts(2)
    const service = await startService({ environment: { ...hosts, RATE_LIMITS: 'off', PORT: String(firstPort) } })
    t.after(() => service.close())
    const onSecond = { ...service.settings, PORT: String(secondPort) }
    const second = launch(onSecond)
    t.after(() => void second.process.kill('SIGKILL'))
    await second.ready
    balancer.add(firstPort)
    balancer.add(secondPort)

    const connected = await Promise.all(Array.from({ length: 6 }, () => connect(service)))
    const load = refreshing(connected)
    await load.more(30)
    const older = [...balancer.versions]

    await balancer.letGo()
    await service.end()
    const firstLater = await startLater(t, service.settings)
    balancer.add(firstPort)
    await load.more(60)
    assert.deepEqual([...balancer.versions], [...older, laterVersion], 'both versions serve at the same time')

    await balancer.letGo()
    await end(second.process)
    const secondLater = await startLater(t, onSecond)
    balancer.add(secondPort)
    await load.more(30)

    t.diagnostic(`${await load.stop()} refreshes, none failed`)
    for (const { customer } of connected) assert.deepEqual([customer.counts.fail, customer.counts.unknown], [0, 0])
    await Promise.all([end(firstLater), end(secondLater)])
  })

/** Repeats a request until something has happened; returns how often. Each answer must be 200. */
async function repeatUntil(happened: Promise<unknown>, ask: () => Promise<{ status: number } | undefined>) {
  const waiting = { over: false }
  const noted = happened.then(() => void (waiting.over = true))
  let answered = 0
  for (; !waiting.over; answered += 1) {
    assert.equal((await ask())?.status, 200)
    await Promise.race([noted, new Promise(setImmediate)])
  }
  return answered
}

if (process.env['TEST_DATABASE_URL'] !== undefined) {
  test('STO-43 a migration of more than five seconds runs once for two starts, and blocks no request', async (t) => {
    const slow = await makeLaterVersion(`create table later_thing (name text); select pg_sleep(7);`)
    t.after(() => rm(slow, { recursive: true }))
    const service = await startService()
    t.after(() => service.close())
    const { customer, family } = await connect(service)
    const ports = await freePorts(6)
    const [one, two] = [ports.slice(0, 3), ports.slice(3)].map(([api, auth, business]) => {
      const [BASE_URL, AUTH_URL, BUSINESS_URL] = [api, auth, business].map((port) => `http://localhost:${port}`)
      return launchLater(t, { ...service.settings, ...(BASE_URL && { BASE_URL, AUTH_URL, BUSINESS_URL }) }, slow)
    })
    assert.ok(one && two)
    const refresh = () => customer.refresh(family, family.live ?? '')
    const answered = await repeatUntil(Promise.all([one.ready, two.ready]), refresh)
    t.diagnostic(`${answered} refreshes meanwhile`)
    const client = await connectTo(t, service)
    const { rows } = await client.query("select name from schema_migration where name like '9999%'")
    assert.deepEqual(rows, [{ name: '9999_later.sql' }])
    await Promise.all([end(one.process), end(two.process)])
  })

  test('STO-44 a migration that does not get its locks lets earlier ones pass, and tries again', async (t) => {
    const service = await startService()
    t.after(() => service.close())
    const { customer, family } = await connect(service)
    const reader = await connectTo(t, service)
    await reader.query('begin; select from user_account limit 1')
    const machine = launchLater(t, service.settings, later)
    const waiting = machine.wrote((output) => output.includes('waiting for the database'))
    await repeatUntil(waiting, () => customer.userinfo(family.access.at(-1) ?? ''))
    for (let each = 0; each < 20; each += 1)
      assert.equal((await customer.refresh(family, family.live ?? ''))?.status, 200)
    await service.end()
    await reader.query('commit')
    await machine.ready
    assert.equal((await customer.refresh(family, family.live ?? ''))?.status, 200)
    await end(machine.process)
  })
}
