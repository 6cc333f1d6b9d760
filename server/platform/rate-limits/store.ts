import type { Database, PreparedQuery, Statement } from '#platform/database/database.ts'

/** Points of a key that are used in the current window, and when the window ends. */
export type RateLimitState = { count: number; expiresAt: Date }

/**
 * Opens a window if there is none, if it has ended, or if it ends later than a window can. Otherwise adds to the
 * existing one. It is one statement, so that concurrent processes get different totals.
 */
const takeStatement: Statement = {
  name: 'take-rate-limit',
  text: `
    insert into rate_limit_window as stored (key_sha256, count, expires_at)
    values ($1, $2, $3)
    on conflict (key_sha256) do update set
      count = case when stored.expires_at > $4 and stored.expires_at <= $5
        then stored.count else 0 end + excluded.count,
      expires_at = case when stored.expires_at > $4 and stored.expires_at <= $5
        then stored.expires_at else excluded.expires_at end
    returning count, expires_at as "expiresAt"`,
}

/** A lease. `latestEnd` is the latest end of a window that a correct clock has opened. */
type RateLimitLease = { keySha256: Uint8Array; lease: number; expiresAt: Date; latestEnd: Date }

/** Adds `lease` points to a key. Returns the new total, which may exceed the limit. */
export async function consumeRateLimit(
  prepared: PreparedQuery,
  requested: RateLimitLease,
  now: Date,
): Promise<RateLimitState> {
  const { keySha256, lease, expiresAt, latestEnd } = requested
  const [row] = await prepared<RateLimitState>(takeStatement, [keySha256, lease, expiresAt, now, latestEnd])
  if (!row) throw new Error('rate limit upsert returned no row')
  return row
}

/** Deletes up to `batch` windows that have ended. Returns their number. */
export async function pruneRateLimits(db: Database, now: Date, batch: number): Promise<number> {
  const ended = db.selectFrom('rate_limit_window').select('key_sha256').where('expires_at', '<=', now).limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('rate_limit_window')
    .where('key_sha256', 'in', ended)
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
