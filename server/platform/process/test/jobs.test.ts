import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type KyselyPlugin } from 'kysely'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { startJobs } from '#platform/process/jobs.ts'
import { modules } from '../../../modules.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const batchMax = 20_000
const ended = 1200

/** Rows that expired some time ago, as a service leaves them. */
const leftBehind: Record<string, string> = {
  token_access_token: `
    insert into token_access_token (identity_id, token_sha256, family_id, scope, issued_at, expires_at)
    select gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), gen_random_uuid(), '{openid}', past, past`,
  token_family: `
    insert into token_family (identity_id, family_id, client_id, session_id, scope, auth_time, created_at,
      code_sha256, code_expires_at, redirect_uri, expires_at)
    select gen_random_uuid(), gen_random_uuid(), 'app', gen_random_uuid(), '{openid}', past, past,
      sha256(gen_random_uuid()::text::bytea), past, 'https://app.example/', past`,
  passkey_flow: `
    insert into passkey_flow (flow_id, ceremony, challenge, expires_at)
    select gen_random_uuid(), 'authenticate', 'challenge', past`,
  rate_limit_window: `
    insert into rate_limit_window (key_sha256, count, expires_at)
    select sha256(gen_random_uuid()::text::bytea), 1, past`,
}

/** Records the row count of each deletion, and resolves when the total is reached. */
function watching(expected: number) {
  const taken: number[] = []
  const { promise: allTaken, resolve } = Promise.withResolvers<void>()
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      taken.push(Number(result.numAffectedRows ?? 0))
      if (sum(taken) >= expected) resolve()
      return result
    },
  }
  return { plugin, taken, allTaken }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

test('STO-22 cleanup deletes ended rows in small statements until none is left', async () => {
  const person = await world.person()
  const tokens = await (await world.app()).tokens(person)
  for (const insertion of Object.values(leftBehind))
    await sql
      .raw(`${insertion} from (select timestamptz '2029-12-01' as past from generate_series(1, ${ended})) ended`)
      .execute(world.db)

  const expected = Object.keys(leftBehind).length * ended
  const { plugin, taken, allTaken } = watching(expected)
  const jobs = startJobs({ ...world.kernel, db: world.db.withPlugin(plugin) }, modules)
  await allTaken
  await jobs.stop()
  assert.equal(sum(taken), expected)
  assert.ok(Math.max(...taken) <= batchMax, `a statement took ${Math.max(...taken)} rows`)
  for (const table of Object.keys(leftBehind)) {
    const { rows } = await sql<{ left: number }>`select count(*)::integer as left from ${sql.table(table)}`.execute(
      world.db,
    )
    assert.equal(rows[0]?.left, table.startsWith('token_') ? 1 : 0, table)
  }
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  assert.equal((await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode, 200, 'live rows remain')
})

test('GRW-13 cleanup of a backlog does not run the other tasks between its batches', async () => {
  const backlog = 20_000
  const ended = `(select timestamptz '2029-12-01' as past from generate_series(1, ${backlog})) ended`
  await sql.raw(`${leftBehind['passkey_flow']} from ${ended}`).execute(world.db)
  const { plugin, taken, allTaken } = watching(backlog)
  const jobs = startJobs({ ...world.kernel, db: world.db.withPlugin(plugin) }, modules)
  await allTaken
  await jobs.stop()
  assert.equal(sum(taken), backlog)
  // Forty batches of the minimum size, and each other task once or twice.
  assert.ok(taken.length < 150, `${taken.length} statements`)
})
