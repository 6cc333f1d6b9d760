import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { addSeconds } from '#platform/clock.ts'
import type { Claim } from '#platform/queue/turns.ts'
import { claimLogouts, setSlowToTake } from '#accounts/backchannel-logout/logout.ts'
import { watchStatements } from '#testing/statement-blocks.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { claimDue, setSlow } from '#clients/webhooks/claim-store.ts'

/** The embedded database does not report what it reads: there, only the claims are tested. */
const onPostgres = process.env['TEST_DATABASE_URL'] !== undefined
const apps = onPostgres ? 50_000 : 1000
const appsOfOwner = onPostgres ? 50 : 10

/** As many are pending when claims are repeated until all are found. */
const waiting = apps / (onPostgres ? 10 : 1)

const watch = watchStatements()
let world: TestWorld
before(async () => {
  world = await createWorld({ between: watch.between })
  await addApps()
})
after(async () => {
  await clear(['app', 'webhook_endpoint'])
  await world.close()
})
afterEach(async () => {
  await clear([...Object.keys(queues), 'session_logout_receiver'])
  // An app that a test added has an owner of its own, whose turn would come before those of the next test.
  await world.changeMany(sql`delete from app where owner_user_id is null`)
  await world.changeMany(sql`update webhook_endpoint set slow_until = null where slow_until is not null`)
  await analyze(Object.keys(queues))
})

const queues = { webhook_delivery: claimDue, session_logout: claimLogouts }
type Queue = keyof typeof queues
const receiverOf = { webhook_delivery: sql.ref('receiver_id'), session_logout: sql.ref('client_id') }

/** Inserts rows without the rows that they reference: only the queues matter. */
async function fill(statement: ReturnType<typeof sql>): Promise<void> {
  await world.kernel.alone(async (db) => {
    await sql`set session_replication_role = replica`.execute(db)
    await statement.execute(db)
    await sql`set session_replication_role = origin`.execute(db)
  })
}

async function clear(tables: string[]): Promise<void> {
  await world.changeMany(sql`truncate ${sql.join(tables.map((name) => sql.table(name)))} cascade`)
}

/** Updates the database's statistics. */
async function analyze(tables: string[]): Promise<void> {
  await world.changeMany(sql`analyze ${sql.join(tables.map((name) => sql.table(name)))}`)
}

/** Adds apps of many owners, each with a webhook. The statistics are those before any delivery is pending. */
async function addApps(): Promise<void> {
  const { clientId } = await world.app()
  const { rows } = await sql<{ text: string }>`
    select string_agg(case column_name
      when 'client_id' then '''app_'' || md5(nth::text)'
      when 'owner_user_id' then 'md5(((nth - 1) / ${sql.raw(String(appsOfOwner))})::text)::uuid'
      else quote_ident(column_name) end, ', ' order by ordinal_position) as text
    from information_schema.columns where table_schema = 'public' and table_name = 'app'`.execute(world.db)
  await fill(sql`
    insert into app select ${sql.raw(rows[0]?.text ?? '')}
    from (select * from app where client_id = ${clientId}) one cross join generate_series(1, ${apps}::integer) nth`)
  await world.changeMany(sql`delete from app where owner_user_id is null`)
  await fill(sql`
    insert into webhook_endpoint (receiver_id, client_id, url, created_at, updated_at)
    select client_id, client_id, 'https://app.example/hook', created_at, created_at from app`)
  for (const name of Object.keys(queues))
    await sql`alter table ${sql.table(name)} set (autovacuum_enabled = off)`.execute(world.db)
  await world.changeMany(sql`analyze`)
}

/** Adds due deliveries for apps, in the order of their IDs. */
async function letWait(queue: Queue, dueAt: Date, chosen = sql`app`): Promise<void> {
  const [columns, values] =
    queue === 'webhook_delivery'
      ? ['delivery_id, type, payload', `gen_random_uuid(), 'webhook.test', '{}'`]
      : ['logout_id, identity_id, session_id', 'gen_random_uuid(), gen_random_uuid(), gen_random_uuid()']
  await fill(sql`
    insert into ${sql.table(queue)} (${receiverOf[queue]}, ${sql.raw(columns)}, created_at, next_attempt_at)
    select client_id, ${sql.raw(values)}, ${dueAt}::timestamptz,
      ${dueAt}::timestamptz + row_number() over (order by client_id) * interval '1 microsecond'
    from ${chosen} one`)
}

/** Marks all receivers as slow until then. */
async function markAllSlow(queue: Queue, slowUntil: Date): Promise<void> {
  await fill(
    queue === 'webhook_delivery'
      ? sql`update webhook_endpoint set slow_until = ${slowUntil}`
      : sql`insert into session_logout_receiver (client_id, slow_until)
          select client_id, ${slowUntil}::timestamptz from app`,
  )
}

const setQuick = (queue: Queue, clientId: ClientId) =>
  (queue === 'webhook_delivery' ? setSlow : setSlowToTake)(world.db, clientId, null)

const claimOf = (now: Date, lane: Claim['lane'] = 'quick'): Claim => ({
  lane,
  now,
  leaseEndsAt: addSeconds(now, 60),
  countMax: 16,
  countOfOwnerMax: 4,
  countOfReceiverMax: 4,
  busyOwners: [],
  busyReceivers: [],
  servedOwners: [],
  servedSeconds: [],
})

/** Claims once, and returns the number of blocks read and the time. */
async function costOf(queue: Queue, claim: Claim) {
  watch.take()
  const began = performance.now()
  const { length: count } = await queues[queue](world.db, claim)
  const milliseconds = Math.round(performance.now() - began)
  const blocks = watch.take().reduce((sum, ran) => sum + ran.blocks, 0)
  return { count, blocks, milliseconds }
}

for (const queue of ['webhook_delivery', 'session_logout'] as const) {
  for (const [when, seconds, blocksMax] of [
    ['none is due', 3600, 50],
    ['all are due', -3600, 20_000],
  ] as const)
    test(`QRY-14 a claim of ${queue} reads few blocks among ${apps} apps, of which ${when}`, async (t) => {
      const now = world.now()
      await letWait(queue, addSeconds(now, seconds))
      for (const isCounted of [false, true]) {
        if (isCounted) await analyze([queue])
        for (const lane of ['quick', 'slow'] as const) {
          const cost = await costOf(queue, claimOf(now, lane))
          t.diagnostic(`${lane}, counted: ${isCounted}: ${JSON.stringify(cost)}`)
          assert.equal(cost.count, seconds < 0 && lane === 'quick' ? 16 : 0)
          assert.ok(!onPostgres || cost.blocks < blocksMax, `${lane}: ${cost.blocks} blocks`)
        }
      }
    })

  test(`FAI-25 a delivery in ${queue} for another owner is claimed next, however many apps are pending`, async () => {
    const now = world.now()
    await letWait(queue, addSeconds(now, -3600))
    const { clientId } = await world.app()
    await fill(sql`
      insert into webhook_endpoint (receiver_id, client_id, url, created_at, updated_at)
      values (${clientId}, ${clientId}, 'https://app.example/hook', ${now}, ${now})`)
    await letWait(queue, addSeconds(now, -1), sql`(select * from app where client_id = ${clientId})`)
    const [first] = await queues[queue](world.db, { ...claimOf(now), countMax: 1 })
    assert.equal(first?.receiverId, clientId)
  })

  test(`FAI-26 an app in ${queue} is found among many of the other lane, between the first and the last`, async (t) => {
    const now = world.now()
    await letWait(queue, addSeconds(now, -3600), sql`(select * from app limit ${waiting}::integer)`)
    await markAllSlow(queue, addSeconds(now, 600))
    const { rows } = await sql<{ clientId: ClientId }>`
      select ${receiverOf[queue]} as "clientId" from ${sql.table(queue)}
      order by next_attempt_at offset ${waiting / 2} limit 1
    `.execute(world.db)
    await setQuick(queue, rows[0]?.clientId ?? asId<ClientId>(''))
    let claims = 0
    let taken: { receiverId: string }[] = []
    for (; taken.length === 0; claims += 1) {
      // Of these, a claim reads a hundred.
      assert.ok(claims < waiting / 10, `not found in ${claims} claims`)
      taken = await queues[queue](world.db, claimOf(now))
      await setImmediate()
    }
    t.diagnostic(`after ${claims} claims`)
    assert.equal(taken[0]?.receiverId, rows[0]?.clientId)
  })
}
