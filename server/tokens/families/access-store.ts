import type { ClientId, IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { inShards, isDistributed } from '#platform/database/distributed/engine.ts'
import { type BatchStatement, requestedRows } from '#platform/database/batching.ts'
import * as store from './store.ts'
import type { TokenFamilyGrant } from './store.ts'

export type AccessTokenRecord = TokenFamilyGrant & { clientId: ClientId }

/** Looks up access tokens. $1 identity, $2 access token hash, $3 now. */
export const findAccessStatement: BatchStatement = {
  name: 'find access token',
  own: 1,
  text: `
    with found as materialized (
      select nth, token_sha256 as own, identity_id, family_id, token_access_token.scope, client_id, session_id,
        auth_time,
        nonce, organization_id, sso_connection_id, authenticated_by_passkey
      from ${requestedRows('identity_id uuid, token_sha256 bytea, now timestamptz')}
      join token_access_token using (identity_id, token_sha256)
      join token_family using (identity_id, family_id)
      where token_access_token.expires_at > now and revoked_at is null
        ${inShards('and token_access_token.identity_id = any($1) and token_family.identity_id = any($1)')}
    )
    select nth::integer, own, client_id as "clientId", ${store.grantedColumns}
    from found join identity using (identity_id)
    ${inShards('where identity.identity_id = any($1)')}`,
}

/** Fields of a live access token that introspection may disclose to its client. */
export type DescribedAccess = {
  clientId: ClientId
  handle: string
  scope: string[]
  /** Null for a token issued before this column existed. */
  issuedAt: Date | null
  expiresAt: Date
  organizationId: OrganizationId | null
  ssoConnectionId: string | null
}

/** Looks up access tokens for introspection. $1 identity, $2 access token hash, $3 now. */
export const describeAccessStatement: BatchStatement = {
  name: 'describe access token',
  own: 1,
  text: `
    with found as materialized (
      select nth, token_sha256 as own, identity_id, token_access_token.scope, issued_at, token_access_token.expires_at,
        client_id, organization_id, sso_connection_id
      from ${requestedRows('identity_id uuid, token_sha256 bytea, now timestamptz')}
      join token_access_token using (identity_id, token_sha256)
      join token_family using (identity_id, family_id)
      where token_access_token.expires_at > now and revoked_at is null
        ${inShards('and token_access_token.identity_id = any($1) and token_family.identity_id = any($1)')}
    )
    select nth::integer, own, client_id as "clientId", handle, scope, issued_at as "issuedAt",
      expires_at as "expiresAt", organization_id as "organizationId", sso_connection_id as "ssoConnectionId"
    from found join identity using (identity_id)
    ${inShards('where identity.identity_id = any($1)')}`,
}

type OfClient = { identityId: IdentityId; sha256: Uint8Array; clientId: ClientId }

/** Finds a live access token of this client. */
export function findAccessOfClient(tx: Transaction, { identityId, sha256, clientId }: OfClient, now: Date) {
  return tx
    .selectFrom('token_access_token')
    .innerJoin('token_family', (join) =>
      join
        .onRef('token_family.identity_id', '=', 'token_access_token.identity_id')
        .onRef('token_family.family_id', '=', 'token_access_token.family_id'),
    )
    .select([
      'auth_time as authTime',
      'organization_id as organizationId',
      'sso_connection_id as ssoConnectionId',
      store.byProviderAlone.as('byProviderAlone'),
    ])
    .where('token_access_token.identity_id', '=', identityId)
    .where('token_sha256', '=', sha256)
    .where('client_id', '=', clientId)
    .where('token_access_token.expires_at', '>', now)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
}

export function findHandle(db: Database, identityId: IdentityId) {
  return db.selectFrom('identity').select('handle').where('identity_id', '=', identityId).executeTakeFirst()
}

/** Deletes a live access token of this client. Returns its token family, or undefined if there is no such token. */
export function deleteAccessOfClient(tx: Transaction, { identityId, sha256, clientId }: OfClient, now: Date) {
  return tx
    .deleteFrom('token_access_token')
    .using('token_family')
    .where('token_access_token.identity_id', '=', identityId)
    .where('token_sha256', '=', sha256)
    .where('token_access_token.expires_at', '>', now)
    .whereRef('token_family.identity_id', '=', 'token_access_token.identity_id')
    .whereRef('token_family.family_id', '=', 'token_access_token.family_id')
    .where('client_id', '=', clientId)
    .where('revoked_at', 'is', null)
    .returning(['token_access_token.identity_id as identityId', 'token_access_token.family_id as familyId'])
    .executeTakeFirst()
}

type OfFamily = { identityId: IdentityId; familyId: string }

/**
 * Notes that a revocation of an access token was recorded. Returns false if one was recorded after the instant `after`.
 */
export async function noteRecordedRevocation(
  tx: Transaction,
  { identityId, familyId }: OfFamily,
  { now, after }: { now: Date; after: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('token_family')
    .set({ access_revocation_recorded_at: now })
    .where('identity_id', '=', identityId)
    .where('family_id', '=', familyId)
    .where(({ eb, or }) =>
      or([eb('access_revocation_recorded_at', 'is', null), eb('access_revocation_recorded_at', '<=', after)]),
    )
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

export async function deleteExpiredAccess(db: Database, now: Date, batch: number): Promise<number> {
  const expired = db
    .selectFrom('token_access_token')
    .select(['identity_id', 'token_sha256'])
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(batch)
    // Several processes clean up at the same time, each with other rows.
    .$if(!isDistributed(db), (rows) => rows.forUpdate().skipLocked())
  const { numDeletedRows } = await db
    .deleteFrom('token_access_token')
    .where(({ eb, refTuple }) =>
      eb(refTuple('identity_id', 'token_sha256'), 'in', expired.$asTuple('identity_id', 'token_sha256')),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
