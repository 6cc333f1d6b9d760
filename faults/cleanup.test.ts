import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Service } from '../server/testing/service.ts'
import { reopenStorage } from '../server/testing/database.ts'
import { startWithUsers } from './load/test-user.ts'
import { describeThroughput, measureThroughput, rounds } from './load/throughput.ts'

/**
 * Expired access tokens: over a million in the long form. In the short form there are more than a machine deletes
 * between the two starts: a busy one deleted 75,000, an idle one 200,000.
 */
const rows = 350_000 + 50_000 * rounds
const rowsOfStatement = 50_000
const warmUpMilliseconds = 300
const measuredMilliseconds = 1500

test(`STO-22 while ${rows} expired rows are deleted, tokens are refreshed as fast as before`, async (t) => {
  const { service, customers } = await startWithUsers(t, 4, { RATE_LIMITS: 'off' })
  await measureThroughput(customers, warmUpMilliseconds)
  const before = await measureThroughput(customers, measuredMilliseconds)
  await service.end()
  await insertExpiredTokens(service, customers[0]?.identityId ?? '')

  await service.restart()
  await measureThroughput(customers, warmUpMilliseconds)
  const meanwhile = await measureThroughput(customers, measuredMilliseconds)
  await service.end()
  const left = await countExpired(service)
  await service.restart()
  t.diagnostic(`before: ${describeThroughput(before)}`)
  t.diagnostic(`while ${rows - left} of ${rows} rows were deleted: ${describeThroughput(meanwhile)}`)
  t.diagnostic(`p99 ${(meanwhile.p99Milliseconds / before.p99Milliseconds).toFixed(2)} times that of before`)
  assert.ok(left < rows, 'rows were deleted meanwhile')
  assert.ok(left > 0, 'rows were deleted all the time')
  assert.ok(meanwhile.p99Milliseconds < Math.max(2 * before.p99Milliseconds, 250))
})

/**
 * Inserts long expired access tokens into the database of a stopped service. Their hashes ascend, which takes half the
 * time; the cleanup selects tokens by their expiry only.
 */
async function insertExpiredTokens({ settings }: Service, identityId: string): Promise<void> {
  const { db, close } = await reopenStorage(settings.DATABASE_URL, settings.DATA_DIR)
  for (let written = 0; written < rows; written += rowsOfStatement)
    await sql`
      insert into token_access_token (identity_id, token_sha256, family_id, scope, issued_at, expires_at)
      select ${identityId}::uuid, decode(lpad(to_hex(nth), 64, '0'), 'hex'), ${randomUUID()}::uuid, '{openid}', past,
        past
      from (
        select nth, timestamptz '2020-01-01' + nth * interval '1 second' as past
        from generate_series(${written}::integer + 1, ${written + rowsOfStatement}::integer) nth
      ) ended`.execute(db)
  await close()
}

async function countExpired({ settings }: Service): Promise<number> {
  const { db, close } = await reopenStorage(settings.DATABASE_URL, settings.DATA_DIR)
  const { count } = await db
    .selectFrom('token_access_token')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('expires_at', '<', new Date('2021-01-01T00:00:00Z'))
    .executeTakeFirstOrThrow()
  await close()
  return Number(count)
}
