import type { Database, Transaction } from '#platform/database/database.ts'

type NewPushedRequest = {
  referenceSha256: Uint8Array
  clientId: string
  parameters: string
  connector: string | null
  sourceSha256: Uint8Array
  createdAt: Date
  expiresAt: Date
}

/** Keeps a request, in place of up to `batch` of the oldest where its source has more than it may. */
export async function insertPushedRequest(
  db: Database,
  pushed: NewPushedRequest,
  { keptMax, batch }: { keptMax: number; batch: number },
): Promise<void> {
  const beyond = db
    .selectFrom('oauth_pushed_request')
    .select('reference_sha256')
    .where('source_sha256', '=', pushed.sourceSha256)
    .orderBy('created_at', 'desc')
    .offset(keptMax - 1)
    .limit(batch)
  await db
    .with('inserted', (query) =>
      query.insertInto('oauth_pushed_request').values({
        reference_sha256: pushed.referenceSha256,
        client_id: pushed.clientId,
        parameters: pushed.parameters,
        connector: pushed.connector,
        source_sha256: pushed.sourceSha256,
        created_at: pushed.createdAt,
        expires_at: pushed.expiresAt,
      }),
    )
    // Those who add at once would otherwise wait for each other, each for a row that the other deletes.
    .with('beyond', (query) =>
      query
        .selectFrom('oauth_pushed_request')
        .select('reference_sha256')
        .where('reference_sha256', 'in', beyond)
        .forUpdate()
        .skipLocked(),
    )
    .deleteFrom('oauth_pushed_request')
    .where('reference_sha256', 'in', (query) => query.selectFrom('beyond').select('reference_sha256'))
    .execute()
}

type Stored = { parameters: string; connector: string | null }
type Reference = { referenceSha256: Uint8Array; clientId: string }

/** The parameters of a request that has not expired. The first to read them sets when it expires from then on. */
export async function openParameters(
  db: Database,
  { referenceSha256, clientId }: Reference,
  { now, expiresAt }: { now: Date; expiresAt: Date },
): Promise<Stored | undefined> {
  return db
    .updateTable('oauth_pushed_request')
    .set(({ fn, eb, ref }) => ({
      opened_at: fn.coalesce('opened_at', eb.val(now)),
      expires_at: eb.case().when('opened_at', 'is', null).then(expiresAt).else(ref('expires_at')).end(),
    }))
    .where('reference_sha256', '=', referenceSha256)
    .where('client_id', '=', clientId)
    .where('expires_at', '>', now)
    .returning(['parameters', 'connector'])
    .executeTakeFirst()
}

/** Takes a request out, so that it is spent once. Undefined where this client has none, or it has expired. */
export async function takeParameters(
  tx: Transaction,
  { referenceSha256, clientId }: Reference,
  now: Date,
): Promise<Stored | undefined> {
  return tx
    .deleteFrom('oauth_pushed_request')
    .where('reference_sha256', '=', referenceSha256)
    .where('client_id', '=', clientId)
    .where('expires_at', '>', now)
    .returning(['parameters', 'connector'])
    .executeTakeFirst()
}

export async function deleteExpiredRequests(db: Database, now: Date, batch: number): Promise<number> {
  const expired = db
    .selectFrom('oauth_pushed_request')
    .select('reference_sha256')
    .where('expires_at', '<=', now)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('oauth_pushed_request')
    .where('reference_sha256', 'in', expired)
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
