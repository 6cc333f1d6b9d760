import type { Database, Transaction } from '#platform/database/database.ts'
import type { GatheredStatement } from '#platform/database/batching.ts'
import * as store from './store.ts'
import type { Granted } from './store.ts'

export type Access = Granted & { clientId: string }

/** Looks up access tokens. $1 identity, $2 access token hash, $3 now. */
export const findAccessStatement: GatheredStatement = {
  name: 'find access token',
  own: 1,
  text: `
    with found as materialized (
      select nth, token_sha256 as own, identity_id, lineage_id, token_access.scope, client_id, session_id, auth_time,
        nonce, organization_id, sso_connection_id, by_passkey
      from unnest($1::uuid[], $2::bytea[], $3::timestamptz[]) with ordinality
        as asked (identity_id, token_sha256, now, nth)
      join token_access using (identity_id, token_sha256)
      join token_lineage using (identity_id, lineage_id)
      where expires_at > now and revoked_at is null
    )
    select nth::integer, own, client_id as "clientId", ${store.grantedColumns}
    from found join identity using (identity_id)`,
}

type OfClient = { identityId: string; sha256: Uint8Array; clientId: string }

/** An access token that is live and this client's, with what may be told of it. */
export function findAccessOfClient(db: Database | Transaction, { identityId, sha256, clientId }: OfClient, now: Date) {
  return db
    .selectFrom('token_access')
    .innerJoin('token_lineage', (join) =>
      join
        .onRef('token_lineage.identity_id', '=', 'token_access.identity_id')
        .onRef('token_lineage.lineage_id', '=', 'token_access.lineage_id'),
    )
    .innerJoin('identity', 'identity.identity_id', 'token_access.identity_id')
    .select([
      'token_access.scope',
      'issued_at as issuedAt',
      'expires_at as expiresAt',
      'auth_time as authTime',
      'handle',
      'organization_id as organizationId',
      'sso_connection_id as ssoConnectionId',
      store.byProviderAlone.as('byProviderAlone'),
    ])
    .where('token_access.identity_id', '=', identityId)
    .where('token_sha256', '=', sha256)
    .where('client_id', '=', clientId)
    .where('expires_at', '>', now)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
}

export function findHandle(db: Database, identityId: string) {
  return db.selectFrom('identity').select('handle').where('identity_id', '=', identityId).executeTakeFirst()
}

/** Deletes an access token that is live and this client's; returns its lineage, undefined where there is none. */
export function deleteAccessOfClient(tx: Transaction, { identityId, sha256, clientId }: OfClient, now: Date) {
  return tx
    .deleteFrom('token_access')
    .using('token_lineage')
    .where('token_access.identity_id', '=', identityId)
    .where('token_sha256', '=', sha256)
    .where('expires_at', '>', now)
    .whereRef('token_lineage.identity_id', '=', 'token_access.identity_id')
    .whereRef('token_lineage.lineage_id', '=', 'token_access.lineage_id')
    .where('client_id', '=', clientId)
    .where('revoked_at', 'is', null)
    .returning(['token_access.identity_id as identityId', 'token_access.lineage_id as lineageId'])
    .executeTakeFirst()
}

type OfLineage = { identityId: string; lineageId: string }

/** Notes that the revocation of an access token is recorded; false where one was recorded after an instant. */
export async function noteRecordedRevocation(
  tx: Transaction,
  { identityId, lineageId }: OfLineage,
  { now, after }: { now: Date; after: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('token_lineage')
    .set({ access_revocation_recorded_at: now })
    .where('identity_id', '=', identityId)
    .where('lineage_id', '=', lineageId)
    .where(({ eb, or }) =>
      or([eb('access_revocation_recorded_at', 'is', null), eb('access_revocation_recorded_at', '<=', after)]),
    )
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

export async function deleteExpiredAccess(db: Database, now: Date, batch: number): Promise<number> {
  const expired = db
    .selectFrom('token_access')
    .select(['identity_id', 'token_sha256'])
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(batch)
    // Several processes sweep at once, each other rows.
    .forUpdate()
    .skipLocked()
  const { numDeletedRows } = await db
    .deleteFrom('token_access')
    .where(({ eb, refTuple }) =>
      eb(refTuple('identity_id', 'token_sha256'), 'in', expired.$asTuple('identity_id', 'token_sha256')),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
