import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Service } from '../server/testing/service.ts'
import { reopenStorage } from '../server/testing/database.ts'
import { startWithCustomers } from './load/customers.ts'
import { rounds } from './load/length.ts'
import { describeTempo, measureTempo } from './load/tempo.ts'

/**
 * Expired access tokens: over a million in the long form. In the short form they are more than a machine sweeps between
 * the two starts: a busy one took 75,000, an idle one 200,000.
 */
const rows = 350_000 + 50_000 * rounds
const rowsOfStatement = 50_000
const warmUpMilliseconds = 300
const measuredMilliseconds = 1500

test(`STO-22 while ${rows} expired rows are swept, tokens are refreshed as before`, async (t) => {
  const { service, customers } = await startWithCustomers(t, 4, { RATE_LIMITS: 'off' })
  await measureTempo(customers, warmUpMilliseconds)
  const before = await measureTempo(customers, measuredMilliseconds)
  await service.end()
  await leaveBehind(service, customers[0]?.identityId ?? '')

  await service.restart()
  await measureTempo(customers, warmUpMilliseconds)
  const meanwhile = await measureTempo(customers, measuredMilliseconds)
  await service.end()
  const left = await countExpired(service)
  await service.restart()
  t.diagnostic(`before: ${describeTempo(before)}`)
  t.diagnostic(`while ${rows - left} of ${rows} rows were swept: ${describeTempo(meanwhile)}`)
  t.diagnostic(`p99 ${(meanwhile.p99Milliseconds / before.p99Milliseconds).toFixed(2)} times what it was`)
  assert.ok(left < rows, 'it was swept meanwhile')
  assert.ok(left > 0, 'it was swept all the while')
  assert.ok(meanwhile.p99Milliseconds < Math.max(2 * before.p99Milliseconds, 250))
})

/**
 * Writes access tokens that ended long ago into the database of a service that has ended. Their hashes ascend: that
 * takes half the time, and a sweep goes by the end of a token alone.
 */
async function leaveBehind({ settings }: Service, identityId: string): Promise<void> {
  const { db, close } = await reopenStorage(settings.DATABASE_URL, settings.DATA_DIR)
  for (let written = 0; written < rows; written += rowsOfStatement)
    await sql`
      insert into token_access (identity_id, token_sha256, lineage_id, scope, issued_at, expires_at)
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
    .selectFrom('token_access')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('expires_at', '<', new Date('2021-01-01T00:00:00Z'))
    .executeTakeFirstOrThrow()
  await close()
  return Number(count)
}
