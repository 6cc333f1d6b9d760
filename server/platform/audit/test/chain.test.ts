import assert from 'node:assert/strict'
import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { AuditChainState, AuditEvent } from '@countersign/protocol/operations/audit'
import { asId, type UserId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import { recordAuditEvent, recordAuditEvents } from '#platform/audit/audit-log.ts'
import { deleteEventsBefore, numberEvents } from '#platform/audit/chain.ts'
import { appendLinks, listPlacedEvents, lockHead } from '#platform/audit/chain-store.ts'
import { readHead } from '#platform/audit/event-feed.ts'
import { listEventsAfter } from '#platform/audit/event-list.ts'
import { transaction } from '#platform/database/database.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

const guide = readFileSync(join(import.meta.dirname, '../../../../docs/security/growth.md'), 'utf8')

let world: TestWorld
before(async () => {
  world = await createWorld()
  await record(12)
})
after(() => world.close())

const userId = asId<UserId>(randomUUIDv7())

async function record(count = 1) {
  for (let nth = 1; nth <= count; nth += 1) {
    const details = { name: `App ${nth}` }
    await recordAuditEvent(world.db, { action: 'app.updated', actor: 'user', userId, details }, world.now())
  }
}

async function read<Answer>(path: string): Promise<Answer> {
  const answer = await world.api.inject({ url: `/api/admin/audit${path}`, headers: world.admin })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

const verify = (query = '?limit=1000') => read<AuditChainState>(`/verify${query}`)
const newest = async () => (await read<{ entries: AuditEvent[] }>('?limit=1')).entries[0]?.sequence ?? 0

/** Runs an example of the documentation: the one that contains `part`. */
async function runExample(part: string, change: (text: string) => string = (text) => text): Promise<void> {
  const examples = guide.matchAll(/```sql\n(.+?)```/gs).map(([, text = '']) => text)
  const [example = ''] = examples.filter((text) => text.includes(part))
  await sql.raw(change(example)).execute(world.db)
}

test('AUD-01 each event has a place without a gap, and the whole log is in order, in parts of any size', async () => {
  await numberEvents(world.db)
  await record()
  const state = await verify()
  assert.equal(state.checked, await newest())
  assert.deepEqual([state.broken, state.next, state.erased, state.checkpoint], [null, null, 0, null])
  assert.deepEqual(state.last, state.head)
  let checked = 0
  for (let from: string | null = '1'; from !== null;) {
    const part: AuditChainState = await verify(`?from=${from}&limit=5`)
    assert.equal(part.broken, null)
    checked += part.checked
    from = part.next
  }
  assert.equal(checked, state.checked)
  const beyond = await verify(`?from=${state.checked + 5}`)
  assert.deepEqual([beyond.checked, beyond.broken, beyond.next], [0, null, null])
})

test('AUD-01 an event that is stored late gets the next place, whatever its time', async () => {
  const seen = await newest()
  const at = new Date(world.now().getTime() - 3_600_000)
  await sql`
    insert into audit_event (event_id, occurred_at, action, actor)
    values ('01900000-0000-7000-8000-000000000001', ${at}, 'app.updated', 'system')`.execute(world.db)
  const { entries } = await read<{ entries: AuditEvent[] }>('?limit=1')
  assert.deepEqual(
    entries.map(({ sequence, at: time }) => [sequence, time]),
    [[seen + 1, at.toISOString()]],
  )
})

test('AUD-01 processes that number at once give each event one place', async () => {
  const before = await newest()
  const work = Array.from({ length: 60 }, (_, index) => (index % 3 === 2 ? numberEvents(world.db) : record()))
  await Promise.all(work)
  const state = await verify()
  assert.deepEqual([state.broken, state.checked], [null, before + 40])
})

test('AUD-02 a reader finds every event up to the head, while others get their places', async () => {
  const reading = { ...world.kernel, readerKey: 'test' }
  const over = new AbortController()
  let after = await newest()
  const end = after + 120
  const recording = Promise.all(Array.from({ length: 4 }, () => record(30)))
  const numbering = Array.from({ length: 2 }, async () => {
    while (!over.signal.aborted) await numberEvents(world.db)
  })
  while (after < end) {
    const { last } = await readHead(world.db)
    const { entries } = await listEventsAfter(reading, {}, { after, to: last, count: 200 })
    assert.deepEqual(
      entries.map(({ sequence }) => sequence),
      Array.from({ length: last - after }, (_, index) => after + 1 + index),
    )
    after = last
  }
  over.abort()
  await Promise.all([recording, ...numbering])
})

test('AUD-01 an event that has a place gets no second one', async () => {
  await record()
  const state = await verify()
  const adding = transaction(world.db, async (tx) => {
    const { sequence } = await lockHead(tx)
    const [event] = await listPlacedEvents(tx, { from: sequence, to: sequence })
    const link = { hash: randomBytes(32), digest: randomBytes(32), salt: randomBytes(16) }
    await appendLinks(tx, [{ eventId: event?.event_id ?? '', sequence: sequence + 1, ...link }])
  })
  await assert.rejects(adding, /have got their places/)
  assert.deepEqual(await verify(), state)
})

test('AUD-01 more events than a batch get their places at once', async () => {
  const before = await newest()
  await transaction(world.db, async (tx) => {
    for (let nth = 0; nth < 510; nth += 1)
      await recordAuditEvent(tx, { action: 'scim.user.updated', actor: 'system' }, world.now())
  })
  assert.equal(await newest(), before + 510)
})

test('AUD-01 details of a user are erased, and the chain is in order', async () => {
  const { head } = await verify()
  await runExample('update audit_event', (text) => text.replaceAll('00000000-0000-0000-0000-000000000000', userId))
  const state = await verify()
  assert.deepEqual([state.broken, state.head], [null, head])
  assert.ok(state.erased >= 12)
  const { entries } = await read<{ entries: AuditEvent[] }>('?limit=100&action=app')
  assert.deepEqual(new Set(entries.map(({ details }) => JSON.stringify(details))), new Set(['{}']))
})

/** Removes the event of a place, and returns it as it can be inserted again. */
async function remove(place: number) {
  const rows = world.db.deleteFrom('audit_event').where('sequence', '=', String(place)).returningAll()
  const { details, ...event } = await rows.executeTakeFirstOrThrow()
  return { ...event, details: JSON.stringify(details) }
}

const insert = (event: Awaited<ReturnType<typeof remove>>) => world.db.insertInto('audit_event').values(event).execute()

test('AUD-01 an edited, removed, exchanged or reordered event is named', async () => {
  await record(3)
  const last = await newest()
  const at = last - 2
  const edits: [column: string, value: string, reason: string][] = [
    ['action', 'app.deleted', 'event_changed'],
    ['actor', 'system', 'event_changed'],
    ['occurred_at', '2020-01-01T00:00:00Z', 'event_changed'],
    ['identity_id', userId, 'event_changed'],
    ['client_id', 'app_other', 'event_changed'],
    ['organization_id', userId, 'event_changed'],
    ['event_id', randomUUIDv7(), 'event_changed'],
    ['details', '{}', 'details_changed'],
    ['device', 'Firefox', 'details_changed'],
    ['origin_network', '192.0.2.0/24', 'details_changed'],
    ['origin_request_id', randomUUIDv7(), 'details_changed'],
    ['origin_is_chained', 'false', 'details_changed'],
  ]
  for (const [column, value, reason] of edits) {
    const event = await remove(at)
    await insert({ ...event, [column]: value })
    assert.deepEqual((await verify(`?from=${at - 1}`)).broken, { sequence: at, reason }, column)
    await remove(at)
    await insert(event)
    assert.equal((await verify(`?from=${at - 1}`)).broken, null, column)
  }

  const exchange = async () => {
    await sql`update audit_event set sequence = -sequence where sequence in (${at}, ${at + 1})`.execute(world.db)
    await sql`update audit_event set sequence = case when sequence = ${-at} then ${at + 1}::bigint else ${at} end
      where sequence < 0`.execute(world.db)
  }
  await exchange()
  assert.deepEqual((await verify(`?from=${at}`)).broken, { sequence: at, reason: 'event_changed' })
  await exchange()

  const removed = await remove(at)
  assert.deepEqual((await verify()).broken, { sequence: at, reason: 'event_missing' })
  await insert(removed)

  const link = await world.db.deleteFrom('audit_chain').where('sequence', '=', String(at)).returningAll().execute()
  assert.deepEqual((await verify()).broken, { sequence: at, reason: 'missing' })
  assert.deepEqual((await verify(`?from=${at + 1}`)).broken, { sequence: at, reason: 'missing' })
  await world.db.insertInto('audit_chain').values(link).execute()

  const end = await world.db.deleteFrom('audit_chain').where('sequence', '=', String(last)).returningAll().execute()
  assert.deepEqual((await verify()).broken, { sequence: last, reason: 'missing' })
  await world.db.insertInto('audit_chain').values(end).execute()
  assert.equal((await verify()).broken, null)
})

test('AUD-01 after pruning, the chain goes on from its checkpoint', async () => {
  const old = await newest()
  world.pass(3600)
  await record(3)
  const { head } = await verify()
  const border = new Date(world.now().getTime() - 1800_000)
  assert.equal(await deleteEventsBefore(world.db, async () => border, 1000), old)
  const state = await verify()
  assert.deepEqual([state.broken, state.head, state.checkpoint?.sequence], [null, head, old])
  assert.equal(state.checked, (await newest()) - old)
  await record()
  assert.equal((await verify()).broken, null)
  await sql`update audit_event set action = 'app.deleted' where sequence = ${old + 1}`.execute(world.db)
  assert.deepEqual((await verify()).broken, { sequence: old + 1, reason: 'event_changed' })
})

test('6,000 events at once are recorded, more than one statement has parameters for', async () => {
  await numberEvents(world.db)
  const before = await newest()
  const event = { action: 'group.member.removed', actor: 'system', details: { key: 'org:acme:eng' } } as const
  await transaction(world.db, (tx) =>
    recordAuditEvents(
      tx,
      Array.from({ length: 6000 }, () => event),
      world.now(),
    ),
  )
  await numberEvents(world.db)
  assert.equal(await newest(), before + 6000)
})
