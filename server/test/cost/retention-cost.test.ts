import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type RawBuilder, sql } from 'kysely'
import { deleteEventsBefore } from '#platform/audit/chain.ts'
import { planModes, watchStatements } from '#testing/statement-blocks.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

/** The embedded database does not report what it reads: there, only the deletion is tested. */
const onPostgres = process.env['TEST_DATABASE_URL'] !== undefined
const [few, many] = onPostgres ? [5000, 100_000] : [2000, 4000]
const batch = 500
/** Events that one statement adds. */
const added = 1000
const modes = onPostgres ? planModes : (['force_custom_plan'] as const)

const tables = ['audit_event', 'audit_chain', 'organization_trail', 'organization_trail_pending']
const watch = watchStatements()
let world: TestWorld
before(async () => {
  world = await createWorld({ between: watch.between })
  for (const table of tables)
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = off)`.execute(world.db)
})
after(() => world.close())

/** Replaces the log by events of one organization that have their places, in the chain and in its trail. */
async function fill(events: number): Promise<void> {
  const { db } = world
  await sql`truncate ${sql.join(tables.map((table) => sql.table(table)))}, audit_chain_head`.execute(db)
  for (let from = 1; from < events; from += added)
    await addEvents(sql`generate_series(${from}::integer, ${from + added - 1}::integer) as place`)
  await sql`
    insert into audit_chain_head (version, sequence, hash, pruned_sequence)
    values (0, ${events}::bigint, '\\x00', 0)`.execute(db)
}

async function addEvents(places: RawBuilder<unknown>): Promise<void> {
  const { db } = world
  const id = sql`md5(place::text)::uuid`
  const organizationId = sql`md5('organization')::uuid`
  await sql`
    insert into audit_event (event_id, occurred_at, action, actor, organization_id, sequence)
    select ${id}, ${world.now()}, 'organization.updated', 'user', ${organizationId}, place from ${places}`.execute(db)
  await sql`
    insert into audit_chain (sequence, hash, details_digest, salt)
    select place, sha256(place::text::bytea), sha256(place::text::bytea), '\\x00' from ${places}`.execute(db)
  await sql`
    insert into organization_trail (organization_id, sequence, event_id, entry, salt)
    select ${organizationId}, place, ${id}, repeat('entry', 60), '\\x00' from ${places}`.execute(db)
}

/** Deletes a batch, and returns the number of blocks that this reads. */
async function deleteBatch(): Promise<number> {
  const border = new Date(world.now().getTime() + 1)
  watch.take()
  assert.equal(await deleteEventsBefore(world.db, async () => border, batch), batch)
  return watch.take().reduce((sum, { blocks }) => sum + blocks, 0)
}

for (const mode of modes)
  test(`AUD-13 a batch reads less than twice as much of ${many} events as of ${few} (${mode})`, async (t) => {
    watch.usePlans(mode)
    const blocks: number[] = []
    for (const events of [few, many])
      for (const isCounted of [false, true]) {
        await fill(events)
        if (isCounted) await sql`analyze ${sql.join(tables.map((table) => sql.table(table)))}`.execute(world.db)
        // A connection reads the catalog for each table at its first use.
        await deleteBatch()
        blocks.push(await deleteBatch())
      }
    t.diagnostic(blocks.join(', '))
    if (!onPostgres) return
    const [least, most] = [Math.min(...blocks), Math.max(...blocks)]
    assert.ok(most < 2 * least && most < 20 * batch, blocks.join(', '))
  })
