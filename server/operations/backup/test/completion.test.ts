import assert from 'node:assert/strict'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { finished } from 'node:stream/promises'
import { after, before, test } from 'node:test'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import type { Health } from '@countersign/protocol/operations/health'
import { sql } from 'kysely'
import { numberEvents } from '#platform/audit/chain.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { createBackup } from '../backup.ts'

let world: TestWorld
before(async () => {
  world = await createWorld({ environment: { DATA_DIR: tmpdir() } })
})
after(() => world.close())

const url = '/api/admin/backup'
const take = ({ api, admin }: TestWorld = world) => api.inject({ url, headers: admin })

async function readLast({ api, admin }: TestWorld = world) {
  const { checks } = (await api.inject({ url: '/api/admin/health', headers: admin })).json<Health>()
  return checks.find(({ name }) => name === 'backup')?.since ?? null
}

/** Lists the events of backups, the first one first. */
async function listEvents({ api, admin, db }: TestWorld = world) {
  await numberEvents(db)
  const answer = await api.inject({ url: '/api/admin/audit?action=backup', headers: admin })
  return answer.json<{ entries: AuditEvent[] }>().entries.toReversed()
}

const actionsOf = (events: AuditEvent[]) => events.map(({ action }) => action)

test('HLT-01 a backup that fails is not the last backup, and the audit log says who began it', async () => {
  await sql`alter table sink rename to missing`.execute(world.db)
  const failed = await take().then(
    ({ statusCode }) => statusCode,
    () => 500,
  )
  await sql`alter table missing rename to sink`.execute(world.db)
  assert.equal(failed, 500)
  assert.deepEqual([await readLast(), actionsOf(await listEvents())], [null, ['backup.created']])
})

// PostgreSQL streams it: only that of the embedded database needs room.
if (process.env['TEST_DATABASE_URL'] === undefined)
  test('HLT-01 a backup that finds no room is not the last backup', async (t) => {
    const full = await createWorld({ environment: { DATA_DIR: '/sys/countersign' } })
    t.after(() => full.close())
    assert.equal((await take(full)).statusCode, 507)
    assert.deepEqual([await readLast(full), actionsOf(await listEvents(full))], [null, ['backup.created']])
  })

test('HLT-01 a backup whose download breaks off is not the last backup', async () => {
  // More text than buffers between the database and a client hold, compressed.
  await sql`
    insert into audit_event (event_id, occurred_at, action, actor, details)
    select gen_random_uuid(), ${world.now()}, 'app.updated', 'operator', jsonb_build_object('nth', nth, 'text',
      (select string_agg(md5(random()::text), '') from generate_series(1, 40) where nth > 0))
    from generate_series(1, 600) nth`.execute(world.db)
  const download = await createBackup(world.kernel, { actor: 'operator', kind: 'break_glass' }, ['audit_event'])
  await once(download, 'readable')
  download.destroy()
  await assert.rejects(finished(download))
  assert.deepEqual([await readLast(), actionsOf(await listEvents())], [null, ['backup.created', 'backup.created']])
})

test('HLT-01 a backup that was read to its end is the last one, and was begun by the same request', async () => {
  const takenAt = world.now().toISOString()
  assert.equal((await take()).statusCode, 200)
  assert.equal(await readLast(), takenAt)
  const [created, completed] = (await listEvents()).slice(-2)
  assert.deepEqual([created?.action, completed?.action], ['backup.created', 'backup.completed'])
  assert.deepEqual(completed?.details, { takenAt })
  assert.deepEqual(completed?.actor, created?.actor)
  assert.ok(created?.requestId)
  assert.deepEqual([completed?.requestId, completed?.address], [created.requestId, created.address])
})

test('a request for the head of a backup takes none', async () => {
  const before = await listEvents()
  const answer = await world.api.inject({ method: 'HEAD', url, headers: world.admin })
  assert.deepEqual([answer.statusCode, answer.headers['allow']], [405, 'GET'])
  assert.deepEqual(await listEvents(), before)
})
