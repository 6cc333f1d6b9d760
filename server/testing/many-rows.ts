import { sql } from 'kysely'
import type { World } from './world.ts'

/**
 * More than a statement takes parameters on PostgreSQL (65,535), where what grows with the data must hold at any size.
 * The embedded database gets few: it has the same limit, and is for trying out.
 */
export const manyRows = process.env['TEST_DATABASE_URL'] === undefined ? 300 : 70_000

type Sessions = { userId: string; organizationId?: string; connectionId?: string; identityId?: string }

/**
 * Fills a database with the sessions of a person, by SQL: of a passkey, or with `organizationId` opened by the provider
 * of an organization as one identity.
 */
export async function fillSessions({ db, now }: World, of: Sessions, count = manyRows): Promise<void> {
  const { userId, organizationId, connectionId = null, identityId = null } = of
  await sql`
    insert into session (session_id, token_sha256, user_id, identity_id, organization_id, connection_id,
      created_at, auth_time, last_seen_at, ends_at)
    select gen_random_uuid(), sha256(nth::text::bytea), ${userId}::uuid, ${organizationId ? identityId : null}::uuid,
      ${organizationId ?? null}::uuid, ${connectionId}::uuid, ${now()}, ${now()}, ${now()},
      ${now()}::timestamptz + interval '1 day'
    from generate_series(1, ${count}::integer) nth`.execute(db)
  if (organizationId === undefined) return
  await sql`
    insert into session_enterprise_sso (session_id, organization_id, connection_id, identity_id, authenticated_at)
    select session_id, ${organizationId}::uuid, ${connectionId}::uuid, identity_id, created_at from session
    where user_id = ${userId} and identity_id is not null
    on conflict do nothing`.execute(db)
}

type Codes = { userId: string; identityId: string; clientId: string; organizationId?: string; connectionId?: string }

/** A code that nobody has redeemed, of each session of a person. */
export async function fillCodes({ db, now }: World, of: Codes): Promise<void> {
  await sql`
    insert into token_lineage (identity_id, lineage_id, client_id, session_id, scope, auth_time, created_at,
      code_sha256, code_expires_at, redirect_uri, ends_at, organization_id, sso_connection_id, by_passkey)
    select ${of.identityId}::uuid, gen_random_uuid(), ${of.clientId}, session_id, '{openid}', auth_time, created_at,
      sha256(session_id::text::bytea), ${now()}::timestamptz + interval '1 minute', 'https://app.example/callback',
      ${now()}::timestamptz + interval '1 minute', ${of.organizationId ?? null}::uuid, ${of.connectionId ?? null}::uuid,
      ${of.organizationId === undefined}
    from session where user_id = ${of.userId}`.execute(db)
}

/** What lives of a person: their sessions, and the codes and tokens of an identity. */
export async function countAlive({ db, now }: World, of: { userId: string; identityId: string }) {
  const { rows } = await sql<{ sessions: number; lineages: number }>`
    select (select count(*) from session where user_id = ${of.userId})::integer as sessions,
      (select count(*) from token_lineage
        where identity_id = ${of.identityId} and revoked_at is null and ends_at > ${now()})::integer as lineages
  `.execute(db)
  const [counted] = rows
  if (!counted) throw new Error('a count has no row')
  return counted
}
