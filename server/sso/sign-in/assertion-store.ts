import { sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'

type TakenAssertion = { connectionId: string; assertionSha256: Uint8Array; expiresAt: Date }

/** Notes that an assertion was taken; false where it had been before. */
export async function insertAssertion(db: Database, taken: TakenAssertion): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('sso_assertion')
    .values({
      connection_id: taken.connectionId,
      assertion_sha256: taken.assertionSha256,
      expires_at: taken.expiresAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Deletes up to `batch` assertions that count no more, and says how many. */
export async function deleteExpiredAssertions(db: Database, now: Date, batch: number): Promise<number> {
  const { rows } = await sql`
    delete from sso_assertion where (connection_id, assertion_sha256) in (
      select connection_id, assertion_sha256 from sso_assertion where expires_at <= ${now} limit ${batch}
    ) returning connection_id
  `.execute(db)
  return rows.length
}
