import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { GatheredStatement } from '#platform/database/batching.ts'

/**
 * What a lineage grants, with what the tokens and the answer say of the identity: in the form in which they say it, for
 * what is taken apart here for every request only to be put together again costs more than the look-up.
 */
export type Granted = {
  identityId: string
  sessionId: string
  /** Space-separated (RFC 6749 §3.3). */
  scope: string
  /** A NumericDate (RFC 7519 §2), as is `updatedAt`. */
  authTime: number
  nonce: string | null
  userId: string
  handle: string
  displayName: string
  avatarUrl: string | null
  email: string | null
  emailVerified: boolean
  updatedAt: number
  /** For which organization the app was given this, and by which of its connections the person was signed in there. */
  organizationId: string | null
  ssoConnectionId: string | null
  /** Whether that connection had opened the session, and no passkey: what is the person's own is not for it. */
  byProviderAlone: boolean
}

/** What a redemption tells beside it: of the whole grant, however narrow the new access token is. */
export type Redeemed = Granted & {
  /** Whether the grant has `offline_access`. */
  offline: boolean
  /** Whether the authorization request had `max_age`. */
  authTimeRequested: boolean
}

/** Where it is not on record whether there was a passkey, it counts as if there was none. */
const byProviderAloneText = '(sso_connection_id is not null and by_passkey is not true)'
export const byProviderAlone = sql.raw<boolean>(byProviderAloneText)

export const grantedColumns = `
  identity.identity_id as "identityId", session_id as "sessionId", array_to_string(scope, ' ') as scope,
  floor(extract(epoch from auth_time))::float8 as "authTime", nonce,
  identity.user_id as "userId", handle, display_name as "displayName", avatar_url as "avatarUrl",
  email, email_verified as "emailVerified", floor(extract(epoch from updated_at))::float8 as "updatedAt",
  organization_id as "organizationId", sso_connection_id as "ssoConnectionId",
  ${byProviderAloneText} as "byProviderAlone"`

const redeemedColumns = `offline, auth_time_requested as "authTimeRequested", ${grantedColumns}`

/**
 * Redeems codes. $1 identity, $2 lineage, $3 code hash, $4 client, $5 redirect URI, $6 challenge of the verifier or
 * null, $7 whether the client proved itself, $8 now, $9 when the refresh token would end, in seconds after the consent,
 * or null where the app may have none, $10 family hash, $11 refresh token hash, $12 access token hash, $13 its expiry.
 */
export const redeemCodeStatement: GatheredStatement = {
  name: 'redeem code',
  changes: 1,
  own: 2,
  text: `
    with asked as (
      select * from unnest(
        $1::uuid[], $2::uuid[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::timestamptz[],
        $9::integer[], $10::bytea[], $11::bytea[], $12::bytea[], $13::timestamptz[]
      ) with ordinality as asked (
        identity_id, lineage_id, code_sha256, client_id, redirect_uri, challenge, proved, now,
        refresh_seconds, family_sha256, refresh_sha256, access_sha256, access_expires_at, nth
      )
    ), redeemed as (
      update token_lineage lineage set
        code_spent_at = now,
        family_sha256 = asked.family_sha256,
        live_sha256 = array[refresh_sha256],
        rotated_at = now,
        ends_at = case
          when 'offline_access' = any(scope) and refresh_seconds is not null
          then lineage.created_at + refresh_seconds * interval '1 second'
          else access_expires_at
        end
      from asked
      where lineage.identity_id = asked.identity_id and lineage.lineage_id = asked.lineage_id
        and lineage.code_sha256 = asked.code_sha256
        and lineage.client_id = asked.client_id and lineage.redirect_uri = asked.redirect_uri
        and code_challenge is not distinct from challenge and (code_challenge is not null or proved)
        and code_expires_at > now and code_spent_at is null and revoked_at is null
      returning nth, lineage.code_sha256 as own, lineage.identity_id, lineage.lineage_id, session_id, scope, auth_time,
        nonce, 'offline_access' = any(scope) as offline, auth_time_requested,
        organization_id, sso_connection_id, by_passkey, access_sha256, access_expires_at, now as issued_at
    ), issued as (
      insert into token_access (identity_id, token_sha256, lineage_id, scope, issued_at, expires_at)
      select identity_id, access_sha256, lineage_id, scope, issued_at, access_expires_at from redeemed
    )
    select nth::integer, own, ${redeemedColumns} from redeemed join identity using (identity_id)`,
}

/**
 * Rotates refresh tokens. $1 identity, $2 lineage, $3 presented token hash, $4 client, $5 now, $6 successor hash, $7
 * the instant since which it must have been used, $8 the instant since which a retry is forgiven, $9 the scopes to
 * which the access token is narrowed, space-separated, or null: all of them were requested at authorization, and what
 * of them was not granted is left out, $10 access token hash, $11 its expiry, $12 successors of one generation at the
 * most.
 */
export const rotateStatement: GatheredStatement = {
  name: 'rotate refresh token',
  changes: 1,
  own: 5,
  text: `
    with asked as (
      select *, string_to_array(narrowed_list, ' ') as narrowed from unnest(
        $1::uuid[], $2::uuid[], $3::bytea[], $4::text[], $5::timestamptz[], $6::bytea[], $7::timestamptz[],
        $8::timestamptz[], $9::text[], $10::bytea[], $11::timestamptz[], $12::integer[]
      ) with ordinality as asked (
        identity_id, lineage_id, presented_sha256, client_id, now, successor_sha256, used_since,
        forgiven_since, narrowed_list, access_sha256, access_expires_at, siblings_max, nth
      )
    ), rotated as (
      update token_lineage lineage set
        generation = case when presented_sha256 = any(live_sha256) then generation + 1 else generation end,
        spent_sha256 = case when presented_sha256 = any(live_sha256) then live_sha256 else spent_sha256 end,
        live_sha256 = case
          when presented_sha256 = any(live_sha256) then array[successor_sha256]
          else live_sha256 || successor_sha256
        end,
        rotated_at = case when presented_sha256 = any(live_sha256) then now else rotated_at end
      from asked
      where lineage.identity_id = asked.identity_id and lineage.lineage_id = asked.lineage_id
        and lineage.client_id = asked.client_id
        and revoked_at is null and ends_at > now and rotated_at > used_since
        and (narrowed is null or (narrowed <@ coalesce(requested_scope, scope) and narrowed && scope))
        and (
          presented_sha256 = any(live_sha256)
          or (
            presented_sha256 = any(spent_sha256) and rotated_at > forgiven_since
            and cardinality(live_sha256) < siblings_max
          )
        )
      returning nth, live_sha256[cardinality(live_sha256)] as own, lineage.identity_id, lineage.lineage_id, session_id,
        case when narrowed is null then scope
          else array(select each from unnest(narrowed) as each where each = any(scope)) end as scope,
        auth_time, null::text as nonce, 'offline_access' = any(scope) as offline, auth_time_requested,
        organization_id, sso_connection_id, by_passkey, access_sha256, access_expires_at, now as issued_at
    ), issued as (
      insert into token_access (identity_id, token_sha256, lineage_id, scope, issued_at, expires_at)
      select identity_id, access_sha256, lineage_id, scope, issued_at, access_expires_at from rotated
    )
    select nth::integer, own, ${redeemedColumns} from rotated join identity using (identity_id)`,
}

/** What a person consented to, when a code is issued for it. */
export type Consented = {
  identityId: string
  clientId: string
  sessionId: string
  scope: string[]
  /** The scopes that the app requested, of which some may not have been granted. */
  requestedScope: string[]
  authTime: Date
  /** Whether the app sent `max_age`. */
  authTimeRequested: boolean
  /** Whether the app sent `prompt=login`, and the person has used a passkey for that request. */
  loginPrompted: boolean
  redirectUri: string
  codeChallenge: string | undefined
  nonce: string | undefined
  organization: ForOrganization | undefined
  /** Whether a passkey opened the session, and not the provider of the organization alone. */
  byPasskey: boolean
}

/** The organization that a consent is for, and the connection of it that signed the person in, if one did. */
export type ForOrganization = { organizationId: string; ssoConnectionId: string | null }

export type NewLineage = Consented & { lineageId: string; codeSha256: Uint8Array; codeExpiresAt: Date; now: Date }

export async function insertLineage(tx: Transaction, lineage: NewLineage): Promise<void> {
  await tx
    .insertInto('token_lineage')
    .values({
      identity_id: lineage.identityId,
      lineage_id: lineage.lineageId,
      client_id: lineage.clientId,
      session_id: lineage.sessionId,
      scope: lineage.scope,
      requested_scope: lineage.requestedScope.every((scope) => lineage.scope.includes(scope))
        ? null
        : lineage.requestedScope,
      auth_time: lineage.authTime,
      auth_time_requested: lineage.authTimeRequested,
      login_prompted: lineage.loginPrompted,
      created_at: lineage.now,
      code_sha256: lineage.codeSha256,
      code_expires_at: lineage.codeExpiresAt,
      redirect_uri: lineage.redirectUri,
      code_challenge: lineage.codeChallenge ?? null,
      nonce: lineage.nonce ?? null,
      organization_id: lineage.organization?.organizationId ?? null,
      sso_connection_id: lineage.organization?.ssoConnectionId ?? null,
      by_passkey: lineage.byPasskey,
      ends_at: lineage.codeExpiresAt,
    })
    .execute()
}

export type Lineage = NonNullable<Awaited<ReturnType<typeof findLineage>>>

export function findLineage(db: Database, identityId: string, lineageId: string) {
  return db
    .selectFrom('token_lineage')
    .select([
      'identity_id as identityId',
      'lineage_id as lineageId',
      'client_id as clientId',
      'scope',
      'requested_scope as requestedScope',
      'code_sha256 as codeSha256',
      'code_expires_at as codeExpiresAt',
      'code_spent_at as codeSpentAt',
      'redirect_uri as redirectUri',
      'code_challenge as codeChallenge',
      'family_sha256 as familySha256',
      'live_sha256 as liveSha256',
      'spent_sha256 as spentSha256',
      'rotated_at as rotatedAt',
      'revoked_at as revokedAt',
      'ends_at as endsAt',
      'auth_time as authTime',
      'organization_id as organizationId',
      'sso_connection_id as ssoConnectionId',
      byProviderAlone.as('byProviderAlone'),
    ])
    .where('identity_id', '=', identityId)
    .where('lineage_id', '=', lineageId)
    .executeTakeFirst()
}

/** Revokes a lineage; false when it was revoked before. */
export async function revokeLineage(db: Database, identityId: string, lineageId: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('token_lineage')
    .set({ revoked_at: now })
    .where('identity_id', '=', identityId)
    .where('lineage_id', '=', lineageId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

export async function revokeLineagesOfClient(
  tx: Transaction,
  identityId: string,
  clientId: string,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('token_lineage')
    .set({ revoked_at: now })
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .where('revoked_at', 'is', null)
    .execute()
}

/** Deletes all that identities have. The lineages first: what a redemption under way issues can be seen after it. */
export async function deleteTokensOf(tx: Transaction, identityIds: string[]): Promise<void> {
  await tx.deleteFrom('token_lineage').where('identity_id', 'in', identityIds).execute()
  await tx.deleteFrom('token_access').where('identity_id', 'in', identityIds).execute()
}

export async function deleteEndedLineages(db: Database, now: Date, batch: number): Promise<number> {
  const ended = db
    .selectFrom('token_lineage')
    .select(['identity_id', 'lineage_id'])
    .where('ends_at', '<=', now)
    .orderBy('ends_at')
    .limit(batch)
    // Several processes sweep at once, each other rows.
    .forUpdate()
    .skipLocked()
  const { numDeletedRows } = await db
    .deleteFrom('token_lineage')
    .where(({ eb, refTuple }) =>
      eb(refTuple('identity_id', 'lineage_id'), 'in', ended.$asTuple('identity_id', 'lineage_id')),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
