import type { ClientId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

type NewPushedRequest = {
  requestUriSha256: Uint8Array
  clientId: ClientId
  parameters: string
  connector: string | null
  sourceSha256: Uint8Array
  createdAt: Date
  expiresAt: Date
}

/** Inserts a request and deletes up to `batch` of the oldest ones if its source exceeds its quota. */
export async function insertPushedRequest(
  db: Database,
  pushed: NewPushedRequest,
  { keptMax, batch }: { keptMax: number; batch: number },
): Promise<void> {
  const beyond = db
    .selectFrom('oauth_pushed_request')
    .select('request_uri_sha256')
    .where('source_sha256', '=', pushed.sourceSha256)
    .orderBy('created_at', 'desc')
    .offset(keptMax - 1)
    .limit(batch)
  await db
    .with('inserted', (query) =>
      query.insertInto('oauth_pushed_request').values({
        request_uri_sha256: pushed.requestUriSha256,
        client_id: pushed.clientId,
        parameters: pushed.parameters,
        connector: pushed.connector,
        source_sha256: pushed.sourceSha256,
        created_at: pushed.createdAt,
        expires_at: pushed.expiresAt,
      }),
    )
    // Concurrent inserts would otherwise wait for each other, each for a row that the other one deletes.
    .with('beyond', (query) =>
      query
        .selectFrom('oauth_pushed_request')
        .select('request_uri_sha256')
        .where('request_uri_sha256', 'in', beyond)
        .forUpdate()
        .skipLocked(),
    )
    .deleteFrom('oauth_pushed_request')
    .where('request_uri_sha256', 'in', (query) => query.selectFrom('beyond').select('request_uri_sha256'))
    .execute()
}

type Stored = { parameters: string; connector: string | null }
type Reference = { requestUriSha256: Uint8Array; clientId: ClientId }

/** Returns the parameters of a request that has not expired. The first read sets its new expiry. */
export async function getPushedParameters(
  db: Database,
  { requestUriSha256, clientId }: Reference,
  { now, expiresAt }: { now: Date; expiresAt: Date },
): Promise<Stored | undefined> {
  return db
    .updateTable('oauth_pushed_request')
    .set(({ fn, eb, ref }) => ({
      first_used_at: fn.coalesce('first_used_at', eb.val(now)),
      expires_at: eb.case().when('first_used_at', 'is', null).then(expiresAt).else(ref('expires_at')).end(),
    }))
    .where('request_uri_sha256', '=', requestUriSha256)
    .where('client_id', '=', clientId)
    .where('expires_at', '>', now)
    .returning(['parameters', 'connector'])
    .executeTakeFirst()
}

/** Deletes a request, so that it is consumed once. Returns undefined if this client has none or it has expired. */
export async function consumePushedParameters(
  tx: Transaction,
  { requestUriSha256, clientId }: Reference,
  now: Date,
): Promise<Stored | undefined> {
  return tx
    .deleteFrom('oauth_pushed_request')
    .where('request_uri_sha256', '=', requestUriSha256)
    .where('client_id', '=', clientId)
    .where('expires_at', '>', now)
    .returning(['parameters', 'connector'])
    .executeTakeFirst()
}

export async function deleteExpiredRequests(db: Database, now: Date, batch: number): Promise<number> {
  const expired = db
    .selectFrom('oauth_pushed_request')
    .select('request_uri_sha256')
    .where('expires_at', '<=', now)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('oauth_pushed_request')
    .where('request_uri_sha256', 'in', expired)
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
