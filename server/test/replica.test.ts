import assert from 'node:assert/strict'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { openLargeReads } from '#platform/database/replica/replica.ts'
import { createBackup } from '#operations/backup/backup.ts'
import { writeEvents } from '#operations/audit/export.ts'
import { suspend } from '#testing/operators.ts'
import { ask, openPrimary, pauseReplay, serviceUrlOf } from '#testing/standby.ts'
import { createWorld, postForm, type TestWorld } from '#testing/world.ts'
import { type Cluster, startStandby } from '../../tools/postgres.ts'

/** The embedded database has no replica: there, the same requests are answered without one. */
const onPostgres = process.env['TEST_DATABASE_URL'] !== undefined
const eventCount = onPostgres ? 4000 : 600
const secretKey = 'q7Fd0vXzj2mWb9cLtN4sKp8RyGhEuA6o'

let world: TestWorld
let standby: Cluster | undefined
before(async () => {
  if (onPostgres) {
    const { cluster, storage } = await openPrimary()
    const { password } = new URL(serviceUrlOf(cluster))
    await ask(cluster, `create role reader login password '${password}'`)
    await sql`grant select on schema_migration to reader`.execute(storage.db)
    standby = await startStandby(cluster)
    const environment = {
      DATABASE_URL: serviceUrlOf(cluster),
      DATABASE_READ_URL: serviceUrlOf(standby),
      SECRET_KEY: secretKey,
    }
    world = await createWorld({ environment, storage })
  } else world = await createWorld()
  // More text than buffers between the database and a client hold, compressed.
  await sql`
    insert into audit_event (event_id, occurred_at, action, actor, details)
    select gen_random_uuid(), ${world.now()}, 'app.updated', 'operator', jsonb_build_object('nth', nth, 'text',
      (select string_agg(md5(random()::text), '') from generate_series(1, 40) where nth > 0))
    from generate_series(1, ${eventCount}::integer) nth`.execute(world.db)
  if (standby) await untilReplayed(standby)
})
after(async () => {
  await world.close()
  await standby?.[Symbol.asyncDispose]()
})

/** More than a replica ever lags in these tests, also where the machine stands still for a second or two. */
const patienceMilliseconds = 20_000

/** Resolves when a standby has all that is committed now: reads of the service wait for that at most two seconds. */
async function untilReplayed(standby: Cluster): Promise<void> {
  const url = new Secret(serviceUrlOf(standby))
  const { db, alone: withDedicatedConnection } = world.kernel
  const storage = { db, withDedicatedConnection }
  const reads = openLargeReads({ url, storage, onObstacle: assert.fail, patienceMilliseconds })
  await reads.begin()(async () => {})
  await reads.close()
}

const exportUrl = '/api/admin/audit/export?format=jsonl'
const readExport = async () => eventsOf((await world.api.inject({ url: exportUrl, headers: world.admin })).body)

function eventsOf(text: string): AuditEvent[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line): AuditEvent => JSON.parse(line))
}

function assertWhole(events: AuditEvent[]): void {
  const places = events.map(({ sequence }) => sequence)
  assert.ok(places.length >= eventCount)
  assert.deepEqual(
    places,
    places.map((_, nth) => places.length - nth),
  )
}

/** Returns the last statements of the service's connections to the replica. */
async function listStatements(): Promise<string[]> {
  if (!standby) return []
  const statements = `select query from pg_stat_activity where usename = 'countersign'`
  return (await ask<{ query: string }>(standby, statements)).map(({ query }) => query)
}

test('STO-50 the export of the audit log and the backup are read from the replica', async () => {
  const begun = await world.api.inject({ url: '/api/admin/backup', headers: world.admin, payloadAsStream: true })
  const stream = begun.stream()
  await once(stream, 'readable')
  const during = await listStatements()
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(Buffer.from(piece))
  const lines = gunzipSync(Buffer.concat(pieces)).toString('utf8').split('\n')
  assert.ok(lines.filter((line) => line.includes('"app.updated"')).length >= eventCount)
  assert.ok(lines.some((line) => line.includes('"backup.created"')))

  assertWhole(await readExport())
  const afterwards = await listStatements()
  if (!onPostgres) return
  assert.ok(
    during.some((statement) => statement.includes('kept_rows')),
    during.join('\n'),
  )
  assert.ok(
    afterwards.some((statement) => /audit_event|from "identity"|organization/.test(statement)),
    afterwards.join('\n'),
  )
})

test('STO-10 STO-11 STO-51 while the replica lags, the revoked stays revoked and no event is missing', async (t) => {
  const [person, other] = [await world.person(), await world.person()]
  const app = await world.app()
  const { access_token: token, refresh_token: refreshToken } = await app.tokens(person)
  const userinfo = { url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${token}` } }
  assert.equal((await world.api.inject(userinfo)).statusCode, 200)
  // The replica knows the tokens from now on.
  await world.kernel.largeReads.begin()(async () => {})
  if (standby) t.after(await pauseReplay(standby))

  await postForm(world.api, '/api/oauth/revoke', { ...app.credentials, token: refreshToken })
  await suspend(world, other)
  const details = { reason: 'the last event' }
  await recordAuditEvent(world.db, { action: 'app.updated', actor: 'operator', details }, world.now())
  const events = await readExport()
  assertWhole(events)
  assert.deepEqual(events[0]?.details, details)
  assert.ok(events.some(({ action, identityId }) => action.startsWith('identity.') && identityId === other.identityId))
  const { rawPayload } = await world.api.inject({ url: '/api/admin/backup', headers: world.admin })
  assert.ok(gunzipSync(rawPayload).includes('the last event'))

  assert.equal((await world.api.inject(userinfo)).statusCode, 401)
  assert.equal((await app.refresh(refreshToken)).json().error, 'invalid_grant')
  const session = await world.api.inject({ url: '/api/auth/session', headers: other.headers })
  assert.notEqual(session.statusCode, 200)
  if (!standby) return
  const stale = await ask(
    { url: serviceUrlOf(standby) },
    `select from audit_event where details::text like '%the last event%'`,
  )
  assert.equal(stale.length, 0, 'the replica lags')
})

if (onPostgres) {
  /** Returns the context with a replica that no request has found away yet. */
  function kernelWithReplica(onObstacle: (reason: string | undefined) => void = () => {}, user = 'countersign') {
    assert.ok(standby)
    const url = new Secret(Object.assign(new URL(serviceUrlOf(standby)), { username: user }).href)
    const { db, alone: withDedicatedConnection } = world.kernel
    const storage = { db, withDedicatedConnection }
    const largeReads = openLargeReads({ url, storage, onObstacle, patienceMilliseconds })
    return { ...world.kernel, largeReads }
  }

  const operator = { actor: 'operator', kind: 'break_glass' } as const

  /** Takes a backup, and asserts that it has all events. */
  async function assertBackup(kernel: ReturnType<typeof kernelWithReplica>): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of await createBackup(kernel, operator, ['audit_event'])) pieces.push(Buffer.from(piece))
    const lines = gunzipSync(Buffer.concat(pieces)).toString('utf8').split('\n')
    assert.ok(lines.filter((line) => line.includes('"app.updated"')).length >= eventCount)
  }

  test('STO-52 an export is whole although the replica stops during it', async () => {
    const kernel = kernelWithReplica()
    const requireRights = () => Promise.resolve()
    const reading = writeEvents({ ...kernel, readerKey: 'auditor' }, { filter: {}, format: 'jsonl', requireRights })
    let text = String((await reading.next()).value)
    await standby?.stop()
    for await (const piece of reading) text += piece
    await kernel.largeReads.close()
    await standby?.start()
    assertWhole(eventsOf(text))
  })

  test('STO-52 a backup is whole if the replica is away, and fails if it stops after the first byte', async () => {
    const kernel = kernelWithReplica()
    const cut = await createBackup(kernel, operator, ['audit_event'])
    await once(cut, 'readable')
    await standby?.stop()
    cut.resume()
    await assert.rejects(finished(cut))

    await assertBackup(kernel)
    await kernel.largeReads.close()
    await standby?.start()
  })

  test('STO-52 a backup is whole if the role of the replica may not read one of its tables', async () => {
    const reasons: (string | undefined)[] = []
    const kernel = kernelWithReplica((reason) => void reasons.push(reason), 'reader')
    await assertBackup(kernel)
    await kernel.largeReads.close()
    assert.deepEqual(reasons, ['its role may not read audit_event'])
  })
}
