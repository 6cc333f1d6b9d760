import type { IdentityId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import type { TestWorld } from './world.ts'

/**
 * More rows than PostgreSQL allows parameters in a statement (65,535), for code that must work at any size. The
 * embedded database gets few: it has the same limit, and is for evaluation.
 */
export const manyRows = process.env['TEST_DATABASE_URL'] === undefined ? 300 : 70_000

/**
 * Rejects statements of the product that change more rows of a table: a busy machine might not complete them in time.
 * A cluster has no such triggers.
 */
export async function limitChangedRows(db: Database, table: string, rowsMax: number): Promise<void> {
  if (isDistributed(db)) return
  await sql`
    create or replace function limit_changed_rows() returns trigger language plpgsql as $$
    begin
      if current_setting('statement_timeout') = '5s' and (select count(*) from changed) > tg_argv[0]::integer then
        raise exception 'a statement changed more than % rows of %', tg_argv[0], tg_table_name;
      end if;
      return null;
    end $$`.execute(db)
  for (const event of ['update', 'delete'])
    await sql`
      create trigger ${sql.raw(`limit_${event}`)} after ${sql.raw(event)} on ${sql.table(table)}
      referencing old table as changed for each statement execute function limit_changed_rows(${sql.lit(rowsMax)})
    `.execute(db)
}

type Sessions = { userId: string; organizationId?: string; connectionId?: string; identityId?: string }

/**
 * Fills a database with the sessions of a user, by SQL: opened by a passkey, or with `organizationId` by SSO as one
 * identity.
 */
export async function fillSessions({ changeMany, now }: TestWorld, of: Sessions, count = manyRows): Promise<void> {
  const { userId, organizationId, connectionId = null, identityId = null } = of
  // The statistics are those of few rows, as they are on a server to which many were added since the last `analyze`.
  await changeMany(sql`analyze session, session_sso_authentication, token_family, token_access_token`)
  await changeMany(sql`
    insert into session (session_id, token_sha256, user_id, auth_method, identity_id, organization_id, connection_id,
      created_at, auth_time, last_seen_at, expires_at)
    select gen_random_uuid(), sha256(nth::text::bytea), ${userId}::uuid,
      ${organizationId ? 'enterprise_sso' : 'passkey'}, ${organizationId ? identityId : null}::uuid,
      ${organizationId ?? null}::uuid, ${connectionId}::uuid, ${now()}, ${now()}, ${now()},
      ${now()}::timestamptz + interval '1 day'
    from generate_series(1, ${count}::integer) nth`)
  if (organizationId === undefined) return
  await changeMany(sql`
    insert into session_sso_authentication (session_id, organization_id, connection_id, identity_id, authenticated_at)
    select session_id, ${organizationId}::uuid, ${connectionId}::uuid, identity_id, created_at from session
    where user_id = ${userId} and auth_method = 'enterprise_sso'
    on conflict do nothing`)
}

type Codes = { userId: string; identityId: string; clientId: string; organizationId?: string; connectionId?: string }

/** Creates an unredeemed code for each session of a user. */
export async function fillCodes({ changeMany, now }: TestWorld, of: Codes): Promise<void> {
  await changeMany(sql`
    insert into token_family (identity_id, family_id, client_id, session_id, scope, auth_time, created_at,
      code_sha256, code_expires_at, redirect_uri, expires_at, organization_id, sso_connection_id,
      authenticated_by_passkey)
    select ${of.identityId}::uuid, gen_random_uuid(), ${of.clientId}, session_id, '{openid}', auth_time, created_at,
      sha256(session_id::text::bytea), ${now()}::timestamptz + interval '1 minute', 'https://app.example/callback',
      ${now()}::timestamptz + interval '1 minute', ${of.organizationId ?? null}::uuid, ${of.connectionId ?? null}::uuid,
      ${of.organizationId === undefined}
    from session where user_id = ${of.userId}`)
}

/** Counts the active sessions of a user, and the active codes and tokens of an identity. */
export async function countAlive({ db, now }: TestWorld, of: { userId: string; identityId: string }) {
  const { rows } = await sql<{ sessions: number; families: number }>`
    select (select count(*) from session where user_id = ${of.userId})::integer as sessions,
      (select count(*) from token_family
        where identity_id = ${of.identityId} and revoked_at is null and expires_at > ${now()})::integer as families
  `.execute(db)
  const [counted] = rows
  if (!counted) throw new Error('count returned no row')
  return counted
}

/**
 * Creates identities of accounts without passkeys, with IDs before those of all others. The returned function deletes
 * them, because they are not complete.
 */
export async function fillIdentities({ db, now }: TestWorld, count: number) {
  const { rows } = await sql<{ identityId: IdentityId }>`
    insert into identity (identity_id, user_id, handle, display_name, created_at, updated_at)
    select id, id, 'filled-' || nth, 'Filled', ${now()}, ${now()} from (
      select nth, ('00000000' || substr(gen_random_uuid()::text, 9))::uuid as id
      from generate_series(1, ${count}::integer) nth
    ) made
    returning identity_id as "identityId"`.execute(db)
  const identityIds = rows.map(({ identityId }) => identityId)
  const remove = async () => {
    for (const table of ['session_logout', 'identity'])
      await sql`delete from ${sql.table(table)} where identity_id = any(${identityIds}::uuid[])`.execute(db)
  }
  return { identityIds, remove }
}
