import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { watchStatements } from '#testing/statement-blocks.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { publishCheckpoint } from '#signing/transparency/log.ts'

/** The embedded database does not report what it reads: there, only the leaves are counted. */
const onPostgres = process.env['TEST_DATABASE_URL'] !== undefined
const leafCount = onPostgres ? 20_000 : 2000

const watch = watchStatements()
let world: TestWorld
before(async () => {
  world = await createWorld({ between: watch.between })
})
after(async () => {
  await sql`truncate transparency_leaf, transparency_node`.execute(world.db)
  await world.db.updateTable('transparency_log').set({ size: 0 }).execute()
  await world.close()
})

test('TLG-25 a reader of the head reads no more after many leaves got an index, before a vacuum', async () => {
  await sql`alter table transparency_leaf set (autovacuum_enabled = off)`.execute(world.db)
  // One a second, until now.
  await sql`
    insert into transparency_leaf (identity_sha256, sequence, leaf_data, leaf_sha256, integrate_at)
    select sha256(nth::text::bytea), 1, 'leaf', sha256(('leaf' || nth)::bytea),
      ${world.now()}::timestamptz - (${leafCount}::integer - nth) * interval '1 second'
    from generate_series(1, ${leafCount}::integer) nth`.execute(world.db)
  const before = await readHead()
  assert.equal(before.size, 500, 'a reader gives an index to the first of them')
  await publishCheckpoint(world.kernel, world.now())
  const { size, blocks } = await readHead()
  assert.equal(size, leafCount)
  if (onPostgres) assert.ok(blocks > 0 && blocks < 25, `${blocks} blocks`)
})

async function readHead(): Promise<{ size: number; blocks: number }> {
  watch.take()
  const { body } = await world.api.inject({ url: '/api/transparency/checkpoint' })
  const blocks = watch.take().reduce((sum, ran) => sum + ran.blocks, 0)
  return { size: Number(body.split('\n')[1]), blocks }
}
