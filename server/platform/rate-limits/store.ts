import type { Database, Prepared, Statement } from '#platform/database/database.ts'

/** How much of a limit a key has taken in its present window, and when that window ends. */
export type Taken = { taken: number; endsAt: Date }

/**
 * Opens a window where there is none, it has ended or it ends later than a window can, and takes more of the one that
 * stands. One statement, so that processes which take at once are told different totals.
 */
const takeStatement: Statement = {
  name: 'take-rate-limit',
  text: `
    insert into rate_limit_window as stored (key_sha256, taken, ends_at)
    values ($1, $2, $3)
    on conflict (key_sha256) do update set
      taken = case when stored.ends_at > $4 and stored.ends_at <= $5 then stored.taken else 0 end + excluded.taken,
      ends_at = case when stored.ends_at > $4 and stored.ends_at <= $5 then stored.ends_at else excluded.ends_at end
    returning taken, ends_at as "endsAt"`,
}

/** `latestEnd` is when a window ends at the latest that was opened by a right clock. */
type Wanted = { keySha256: Uint8Array; lease: number; endsAt: Date; latestEnd: Date }

/** Takes `lease` more for a key; answers the total that this makes, which may be more than the limit has. */
export async function takeRateLimit(prepared: Prepared, wanted: Wanted, now: Date): Promise<Taken> {
  const { keySha256, lease, endsAt, latestEnd } = wanted
  const [row] = await prepared<Taken>(takeStatement, [keySha256, lease, endsAt, now, latestEnd])
  if (!row) throw new Error('an upsert of a rate limit gave no row')
  return row
}

/** Deletes up to `batch` windows that have ended, and says how many. */
export async function pruneRateLimits(db: Database, now: Date, batch: number): Promise<number> {
  const ended = db.selectFrom('rate_limit_window').select('key_sha256').where('ends_at', '<=', now).limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('rate_limit_window')
    .where('key_sha256', 'in', ended)
    .where('ends_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
