import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createSigner } from '#testing/signer.ts'
import { useOwnPostgres, watchStatements } from '#testing/statement-blocks.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { publishCheckpoint } from '#signing/transparency/log.ts'

/** The embedded database does not report what it reads: there, only the leaves are counted. */
const onPostgres = process.env['TEST_DATABASE_URL'] !== undefined
const leafCount = onPostgres ? 20_000 : 2000

const watch = watchStatements()
let world: TestWorld
let identityId: string
let cluster: AsyncDisposable | undefined
before(async () => {
  if (onPostgres) cluster = await useOwnPostgres()
  world = await createWorld({ between: watch.between })
  identityId = (await createSigner(world)).identityId
  await readHead()
  await sql`alter table transparency_leaf set (autovacuum_enabled = off)`.execute(world.db)
  await sql`update transparency_leaf set integrate_at = integrate_at - interval '1 day'`.execute(world.db)
  // The statistics are from a time when the log was small.
  await sql`analyze transparency_leaf, transparency_node`.execute(world.db)
})
after(async () => {
  await sql`truncate transparency_leaf, transparency_node, signing_key`.execute(world.db)
  await world.db.updateTable('transparency_log').set({ size: 0 }).execute()
  await world.close()
  await cluster?.[Symbol.asyncDispose]()
})

test('TLG-25 a reader of the head reads no more after many leaves got an index, before a vacuum', async () => {
  // One a second, until now.
  await sql`
    insert into transparency_leaf (identity_sha256, sequence, leaf_data, leaf_sha256, integrate_at)
    select sha256(nth::text::bytea), 1, 'leaf', sha256(('leaf' || nth)::bytea),
      ${world.now()}::timestamptz - (${leafCount}::integer - nth) * interval '1 second'
    from generate_series(1, ${leafCount}::integer) nth`.execute(world.db)
  assert.equal((await readHead()).size, 501, 'a reader gives an index to the first of them')
  await publishCheckpoint(world.kernel, world.now())
  const { size, blocks } = await readHead()
  assert.equal(size, leafCount + 1)
  requireFew(blocks, 25)
})

test('TLG-28 the entries of an identity are read without those of others, whatever the statistics say', async () => {
  const { body, blocks } = await read(`identities/${identityId}`)
  assert.equal(JSON.parse(body).events.length, 1)
  requireFew(blocks, 120)
})

function requireFew(blocks: number, most: number): void {
  if (onPostgres) assert.ok(blocks > 0 && blocks < most, `${blocks} blocks`)
}

async function readHead(): Promise<{ size: number; blocks: number }> {
  const { body, blocks } = await read('checkpoint')
  return { size: Number(body.split('\n')[1]), blocks }
}

async function read(path: string): Promise<{ body: string; blocks: number }> {
  watch.take()
  const { body } = await world.api.inject({ url: `/api/transparency/${path}` })
  return { body, blocks: watch.take().reduce((sum, ran) => sum + ran.blocks, 0) }
}
