import { sql } from 'kysely'
import type { IdentityId, OrganizationId, SessionId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

type Named = { sessionId: SessionId; organizationId: OrganizationId; connectionId: string; identityId: IdentityId }

/**
 * Records an SSO authentication in a session, and locks the session until the transaction ends. Returns false if the
 * session does not exist.
 */
export async function upsertSsoAuthentication(
  tx: Transaction,
  { sessionId, organizationId, connectionId, identityId }: Named,
  now: Date,
): Promise<boolean> {
  const { rows } = await sql<{ session_id: SessionId }>`
    insert into session_sso_authentication (session_id, organization_id, connection_id, identity_id, authenticated_at)
    select session_id, ${organizationId}::uuid, ${connectionId}::uuid, ${identityId}::uuid, ${now}::timestamptz
    from session where session_id = ${sessionId} for no key update
    on conflict (session_id, organization_id) do update set
      connection_id = excluded.connection_id, identity_id = excluded.identity_id,
      authenticated_at = excluded.authenticated_at
    returning session_id`.execute(tx)
  return rows.length === 1
}

export function findSsoAuthentication(db: Database, sessionId: SessionId, organizationId: OrganizationId) {
  return db
    .selectFrom('session_sso_authentication')
    .select(['connection_id as connectionId', 'identity_id as identityId', 'authenticated_at as authenticatedAt'])
    .where('session_id', '=', sessionId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

/**
 * Records that a session uses an organization without SSO. Returns false if that was recorded after `since`. In that
 * case it locks nothing, because requests without changes must not delay the end of the session.
 */
export async function upsertSsoBypass(
  tx: Transaction,
  { sessionId, organizationId, since }: { sessionId: SessionId; organizationId: OrganizationId; since: Date },
  now: Date,
): Promise<boolean> {
  const { rows } = await sql<{ session_id: SessionId }>`
    insert into session_sso_bypass (session_id, organization_id, recorded_at)
    select session_id, ${organizationId}::uuid, ${now}::timestamptz
    from session where session_id = ${sessionId} and not exists (
      select from session_sso_bypass noted
      where noted.session_id = ${sessionId} and organization_id = ${organizationId} and recorded_at > ${since}
    ) for no key update of session
    on conflict (session_id, organization_id) do update set recorded_at = excluded.recorded_at
      where session_sso_bypass.recorded_at <= ${since}
    returning session_id`.execute(tx)
  return rows.length === 1
}

export async function listOrganizationsOfSession(
  db: Database,
  { sessionId, identityId }: { sessionId: SessionId; identityId: IdentityId },
  since: Date,
): Promise<OrganizationId[]> {
  const rows = await db
    .selectFrom('session_sso_authentication')
    .select('organization_id as organizationId')
    .where('session_id', '=', sessionId)
    .where('identity_id', '=', identityId)
    .where('authenticated_at', '>', since)
    .execute()
  return rows.map(({ organizationId }) => organizationId)
}

export async function moveSsoAuthentication(
  tx: Transaction,
  earlier: { sessionId: SessionId; tokenSha256: Uint8Array },
  later: { sessionId: SessionId; userId: UserId },
): Promise<void> {
  const ofTheSame = tx
    .selectFrom('session')
    .select('session_id')
    .where('session_id', '=', earlier.sessionId)
    .where('token_sha256', '=', earlier.tokenSha256)
    .where('user_id', '=', later.userId)
  await tx
    .updateTable('session_sso_authentication')
    .set({ session_id: later.sessionId })
    .where('session_id', 'in', ofTheSame)
    .execute()
}

/** Deletes up to `batch` records of each kind from before an instant. Returns their number. */
export async function deleteSsoRecords(
  db: Database,
  { named, entered }: { named: Date; entered: Date },
  batch: number,
): Promise<number> {
  const { rows } = await sql<{ session_id: SessionId }>`
    with old_named as (
      select session_id, organization_id from session_sso_authentication
      where authenticated_at <= ${named} limit ${batch}
    ), old_entered as (
      select session_id, organization_id from session_sso_bypass where recorded_at <= ${entered} limit ${batch}
    ), deleted_named as (
      delete from session_sso_authentication using old_named
      where session_sso_authentication.session_id = old_named.session_id
        and session_sso_authentication.organization_id = old_named.organization_id and authenticated_at <= ${named}
      returning session_sso_authentication.session_id
    ), deleted_entered as (
      delete from session_sso_bypass using old_entered
      where session_sso_bypass.session_id = old_entered.session_id
        and session_sso_bypass.organization_id = old_entered.organization_id and recorded_at <= ${entered}
      returning session_sso_bypass.session_id
    )
    select session_id from deleted_named union all select session_id from deleted_entered`.execute(db)
  return rows.length
}
