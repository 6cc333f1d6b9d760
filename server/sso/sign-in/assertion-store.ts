import { sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'

type TakenAssertion = { connectionId: string; assertionSha256: Uint8Array; expiresAt: Date }

/** Records the use of an assertion. Returns false if it was used before. */
export async function insertAssertion(db: Database, taken: TakenAssertion): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('sso_used_assertion')
    .values({
      connection_id: taken.connectionId,
      assertion_sha256: taken.assertionSha256,
      expires_at: taken.expiresAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Deletes up to `batch` expired assertion records, and returns the number. */
export async function deleteExpiredAssertions(db: Database, now: Date, batch: number): Promise<number> {
  const { rows } = await sql`
    delete from sso_used_assertion where (connection_id, assertion_sha256) in (
      select connection_id, assertion_sha256 from sso_used_assertion where expires_at <= ${now} limit ${batch}
    ) returning connection_id
  `.execute(db)
  return rows.length
}
