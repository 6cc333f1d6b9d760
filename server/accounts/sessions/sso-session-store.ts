import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

type Named = { sessionId: string; organizationId: string; connectionId: string; identityId: string }

/** Notes what a provider has said in a session that is there, and stays until the transaction ends; false for none. */
export async function upsertEnterpriseSso(
  tx: Transaction,
  { sessionId, organizationId, connectionId, identityId }: Named,
  now: Date,
): Promise<boolean> {
  const { rows } = await sql<{ session_id: string }>`
    insert into session_enterprise_sso (session_id, organization_id, connection_id, identity_id, authenticated_at)
    select session_id, ${organizationId}::uuid, ${connectionId}::uuid, ${identityId}::uuid, ${now}::timestamptz
    from session where session_id = ${sessionId} for no key update
    on conflict (session_id, organization_id) do update set
      connection_id = excluded.connection_id, identity_id = excluded.identity_id,
      authenticated_at = excluded.authenticated_at
    returning session_id`.execute(tx)
  return rows.length === 1
}

export function findEnterpriseSso(db: Database, sessionId: string, organizationId: string) {
  return db
    .selectFrom('session_enterprise_sso')
    .select(['connection_id as connectionId', 'identity_id as identityId', 'authenticated_at as authenticatedAt'])
    .where('session_id', '=', sessionId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

/**
 * Notes that a session is in an organization without its provider; false where that was noted after `since`. Then it
 * locks nothing: requests that change nothing must not keep the session from who ends it.
 */
export async function upsertWithoutSso(
  tx: Transaction,
  { sessionId, organizationId, since }: { sessionId: string; organizationId: string; since: Date },
  now: Date,
): Promise<boolean> {
  const { rows } = await sql<{ session_id: string }>`
    insert into session_without_sso (session_id, organization_id, noted_at)
    select session_id, ${organizationId}::uuid, ${now}::timestamptz
    from session where session_id = ${sessionId} and not exists (
      select from session_without_sso noted
      where noted.session_id = ${sessionId} and organization_id = ${organizationId} and noted_at > ${since}
    ) for no key update of session
    on conflict (session_id, organization_id) do update set noted_at = excluded.noted_at
      where session_without_sso.noted_at <= ${since}
    returning session_id`.execute(tx)
  return rows.length === 1
}

export async function listOrganizationsOfSession(
  db: Database,
  { sessionId, identityId }: { sessionId: string; identityId: string },
  since: Date,
): Promise<string[]> {
  const rows = await db
    .selectFrom('session_enterprise_sso')
    .select('organization_id as organizationId')
    .where('session_id', '=', sessionId)
    .where('identity_id', '=', identityId)
    .where('authenticated_at', '>', since)
    .execute()
  return rows.map(({ organizationId }) => organizationId)
}

export async function moveEnterpriseSso(
  tx: Transaction,
  earlier: { sessionId: string; tokenSha256: Uint8Array },
  later: { sessionId: string; userId: string },
): Promise<void> {
  const ofTheSame = tx
    .selectFrom('session')
    .select('session_id')
    .where('session_id', '=', earlier.sessionId)
    .where('token_sha256', '=', earlier.tokenSha256)
    .where('user_id', '=', later.userId)
  await tx
    .updateTable('session_enterprise_sso')
    .set({ session_id: later.sessionId })
    .where('session_id', 'in', ofTheSame)
    .execute()
}

/** Deletes up to so many notes of each kind that were made before an instant, and says how many. */
export async function deleteNotes(
  db: Database,
  { named, entered }: { named: Date; entered: Date },
  batch: number,
): Promise<number> {
  const { rows } = await sql<{ session_id: string }>`
    with old_named as (
      select session_id, organization_id from session_enterprise_sso where authenticated_at <= ${named} limit ${batch}
    ), old_entered as (
      select session_id, organization_id from session_without_sso where noted_at <= ${entered} limit ${batch}
    ), deleted_named as (
      delete from session_enterprise_sso using old_named
      where session_enterprise_sso.session_id = old_named.session_id
        and session_enterprise_sso.organization_id = old_named.organization_id and authenticated_at <= ${named}
      returning session_enterprise_sso.session_id
    ), deleted_entered as (
      delete from session_without_sso using old_entered
      where session_without_sso.session_id = old_entered.session_id
        and session_without_sso.organization_id = old_entered.organization_id and noted_at <= ${entered}
      returning session_without_sso.session_id
    )
    select session_id from deleted_named union all select session_id from deleted_entered`.execute(db)
  return rows.length
}
