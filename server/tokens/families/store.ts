import { type RawBuilder, sql } from 'kysely'
import type { ClientId, IdentityId, OrganizationId, SessionId, UserId } from '@countersign/protocol/ids'
import type { ScopeSet } from '@countersign/protocol/scope-set'
import type { Database, Transaction } from '#platform/database/database.ts'
import { inShards, isDistributed } from '#platform/database/distributed/engine.ts'
import { sendAhead } from '#platform/database/pipeline.ts'
import { plannedForValues } from '#platform/database/statement-names.ts'
import { type BatchStatement, requestedRows } from '#platform/database/batching.ts'
import { changeInParts } from '#platform/module/batches.ts'

/**
 * Grant of a token family, with the identity's claims in the format of tokens and responses. The database formats them,
 * because parsing and formatting them here costs more per request than the query.
 */
export type TokenFamilyGrant = {
  identityId: IdentityId
  sessionId: SessionId
  /** Space-separated (RFC 6749 §3.3). */
  scope: string
  /** NumericDate (RFC 7519 §2), like `updatedAt`. */
  authTime: number
  nonce: string | null
  userId: UserId
  handle: string
  displayName: string
  avatarUrl: string | null
  email: string | null
  emailVerified: boolean
  updatedAt: number
  /** Organization that the grant is for, and its connection that signed the user in. */
  organizationId: OrganizationId | null
  ssoConnectionId: string | null
  /**
   * True if that connection opened the session without a passkey. Such a session has no access to the user's own data.
   */
  byProviderAlone: boolean
}

/** Result of a redemption. It describes the whole grant, even if the new access token is narrower. */
export type Redeemed = TokenFamilyGrant & {
  /** True if the grant has `offline_access`. */
  offline: boolean
  /** True if the authorization request had `max_age`. */
  authTimeRequested: boolean
}

/** Without a record of a passkey, the session counts as opened without one. */
const byProviderAloneText = '(sso_connection_id is not null and authenticated_by_passkey is not true)'
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
 * Redeems codes. $1 identity, $2 token family, $3 code hash, $4 client, $5 redirect URI, $6 challenge of the verifier
 * or null, $7 whether the client authenticated, $8 now, $9 lifetime of the refresh token in seconds after the consent,
 * or null if the app gets none, $10 family hash, $11 refresh token hash, $12 access token hash, $13 its expiry. A code
 * that was issued in a session which SSO opened ends with the session, from the instant when its connection does.
 */
export const redeemCodeStatement: BatchStatement = {
  name: 'redeem code',
  changes: 1,
  own: 2,
  text: `
    with requested as (
      select * from ${requestedRows(`
        identity_id uuid, family_id uuid, code_sha256 bytea, client_id text, redirect_uri text, challenge text,
        proved boolean, now timestamptz, refresh_seconds integer, refresh_root_sha256 bytea, refresh_sha256 bytea,
        access_sha256 bytea, access_expires_at timestamptz`)}
    ), redeemed as (
      update token_family family set
        code_redeemed_at = now,
        refresh_root_sha256 = requested.refresh_root_sha256,
        current_refresh_sha256 = array[refresh_sha256],
        rotated_at = now,
        expires_at = case
          when 'offline_access' = any(scope) and refresh_seconds is not null
          then (family.created_at at time zone 'UTC' + refresh_seconds * interval '1 second') at time zone 'UTC'
          else access_expires_at
        end
      from requested
      where family.identity_id = requested.identity_id and family.family_id = requested.family_id
        ${inShards('and family.identity_id = any($1)')}
        and family.code_sha256 = requested.code_sha256
        and family.client_id = requested.client_id and family.redirect_uri = requested.redirect_uri
        and code_challenge is not distinct from challenge and (code_challenge is not null or proved)
        -- So that no plan reads all unredeemed codes of an identity by their index.
        and code_expires_at > now and num_nonnulls(code_redeemed_at, revoked_at) = 0
        and (sso_connection_id is null or authenticated_by_passkey is true or (
          select true from sso_connection_ending ending where ending.connection_id = family.sso_connection_id
        ) is null)
      returning nth, family.code_sha256 as own, family.identity_id, family.family_id, session_id, scope, auth_time,
        nonce, 'offline_access' = any(scope) as offline, auth_time_requested,
        organization_id, sso_connection_id, authenticated_by_passkey, access_sha256, access_expires_at, now as issued_at
    ), issued as (
      insert into token_access_token (identity_id, token_sha256, family_id, scope, issued_at, expires_at)
      select identity_id, access_sha256, family_id, scope, issued_at, access_expires_at from redeemed
    )
    select nth::integer, own, ${redeemedColumns} from redeemed join identity using (identity_id)
    ${inShards('where identity.identity_id = any($1)')}`,
}

/**
 * Rotates refresh tokens. $1 identity, $2 token family, $3 presented token hash, $4 client, $5 now, $6 successor hash,
 * $7 instant since which the token must have been used, $8 start of the grace period for a retry, $9 scopes to which
 * the access token is narrowed, space-separated, or null, $10 access token hash, $11 its expiry, $12 maximum number of
 * successors per generation. All scopes of $9 must have been requested at authorization; those that were not granted
 * are left out.
 */
export const rotateStatement: BatchStatement = {
  name: 'rotate refresh token',
  changes: 1,
  own: 5,
  text: `
    with requested as (
      select *, string_to_array(narrowed_list, ' ') as narrowed from ${requestedRows(`
        identity_id uuid, family_id uuid, presented_sha256 bytea, client_id text, now timestamptz,
        successor_sha256 bytea, used_since timestamptz, forgiven_since timestamptz, narrowed_list text,
        access_sha256 bytea, access_expires_at timestamptz, siblings_max integer`)}
    ), rotated as (
      update token_family family set
        generation = case when presented_sha256 = any(current_refresh_sha256) then generation + 1 else generation end,
        previous_refresh_sha256 = case when presented_sha256 = any(current_refresh_sha256)
          then current_refresh_sha256
            else previous_refresh_sha256 end,
        current_refresh_sha256 = case
          when presented_sha256 = any(current_refresh_sha256) then array[successor_sha256]
          else current_refresh_sha256 || successor_sha256
        end,
        rotated_at = case when presented_sha256 = any(current_refresh_sha256) then now else rotated_at end
      from requested
      where family.identity_id = requested.identity_id and family.family_id = requested.family_id
        ${inShards('and family.identity_id = any($1)')}
        and family.client_id = requested.client_id
        and revoked_at is null and expires_at > now and rotated_at > used_since
        and (narrowed is null or (narrowed <@ coalesce(requested_scope, scope) and narrowed && scope))
        and (
          presented_sha256 = any(current_refresh_sha256)
          or (
            presented_sha256 = any(previous_refresh_sha256) and rotated_at > forgiven_since
            and cardinality(current_refresh_sha256) < siblings_max
          )
        )
      returning nth, current_refresh_sha256[cardinality(current_refresh_sha256)] as own, family.identity_id,
        family.family_id,
        session_id,
        case when narrowed is null then scope
          else array(select each from unnest(narrowed) as each where each = any(scope)) end as scope,
        auth_time, null::text as nonce, 'offline_access' = any(scope) as offline, auth_time_requested,
        organization_id, sso_connection_id, authenticated_by_passkey, access_sha256, access_expires_at, now as issued_at
    ), issued as (
      insert into token_access_token (identity_id, token_sha256, family_id, scope, issued_at, expires_at)
      select identity_id, access_sha256, family_id, scope, issued_at, access_expires_at from rotated
    )
    select nth::integer, own, ${redeemedColumns} from rotated join identity using (identity_id)
    ${inShards('where identity.identity_id = any($1)')}`,
}

/** Consent for which a code is issued. */
export type Consented = {
  identityId: IdentityId
  clientId: ClientId
  sessionId: SessionId
  scope: ScopeSet
  /** Scopes that the app requested, also those of a resource. Some of them may not have been granted. */
  requestedScope: ScopeSet
  authTime: Date
  /** True if the app sent `max_age`. */
  authTimeRequested: boolean
  /** True if the app sent `prompt=login` and the user used a passkey for that request. */
  loginPrompted: boolean
  redirectUri: string
  codeChallenge: string | undefined
  nonce: string | undefined
  organization: OrganizationBinding | undefined
  /** True if a passkey opened the session, and not SSO alone. */
  authenticatedByPasskey: boolean
}

/** The organization that a consent is for, and its SSO connection if one signed the user in. */
export type OrganizationBinding = { organizationId: OrganizationId; ssoConnectionId: string | null }

export type NewFamily = Consented & { familyId: string; codeSha256: Uint8Array; codeExpiresAt: Date; now: Date }

export function insertFamily(tx: Transaction, family: NewFamily): void {
  const inserted = tx.insertInto('token_family').values({
    identity_id: family.identityId,
    family_id: family.familyId,
    client_id: family.clientId,
    session_id: family.sessionId,
    scope: [...family.scope],
    requested_scope: family.requestedScope.isWithin(family.scope) ? null : [...family.requestedScope],
    auth_time: family.authTime,
    auth_time_requested: family.authTimeRequested,
    login_prompted: family.loginPrompted,
    created_at: family.now,
    code_sha256: family.codeSha256,
    code_expires_at: family.codeExpiresAt,
    redirect_uri: family.redirectUri,
    code_challenge: family.codeChallenge ?? null,
    nonce: family.nonce ?? null,
    organization_id: family.organization?.organizationId ?? null,
    sso_connection_id: family.organization?.ssoConnectionId ?? null,
    authenticated_by_passkey: family.authenticatedByPasskey,
    expires_at: family.codeExpiresAt,
  })
  sendAhead(tx, inserted)
}

export type TokenFamily = NonNullable<Awaited<ReturnType<typeof findFamily>>>

export function findFamily(db: Database, identityId: IdentityId, familyId: string) {
  return db
    .selectFrom('token_family')
    .select([
      'identity_id as identityId',
      'family_id as familyId',
      'client_id as clientId',
      'scope',
      'requested_scope as requestedScope',
      'code_sha256 as codeSha256',
      'code_expires_at as codeExpiresAt',
      'code_redeemed_at as codeRedeemedAt',
      'redirect_uri as redirectUri',
      'code_challenge as codeChallenge',
      'refresh_root_sha256 as refreshRootSha256',
      'current_refresh_sha256 as currentRefreshSha256',
      'previous_refresh_sha256 as previousRefreshSha256',
      'rotated_at as rotatedAt',
      'revoked_at as revokedAt',
      'expires_at as expiresAt',
      'auth_time as authTime',
      'organization_id as organizationId',
      'sso_connection_id as ssoConnectionId',
      byProviderAlone.as('byProviderAlone'),
    ])
    .where('identity_id', '=', identityId)
    .where('family_id', '=', familyId)
    .executeTakeFirst()
}

/** Revokes a token family. Returns false if it was revoked before. */
export async function revokeFamily(
  db: Database,
  identityId: IdentityId,
  familyId: string,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('token_family')
    .set({ revoked_at: now })
    .where('identity_id', '=', identityId)
    .where('family_id', '=', familyId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

export type FamilyKey = { identityId: IdentityId; familyId: string }

/** Revokes all token families that meet a condition on their own columns. */
export async function revokeWhere(tx: Transaction, condition: RawBuilder<boolean>, now: Date): Promise<void> {
  const unrevoked = tx
    .selectFrom('token_family')
    .select(['identity_id as identityId', 'family_id as familyId'])
    .where(condition)
    .where('revoked_at', 'is', null)
  await changeInParts(
    (limit) => unrevoked.limit(limit).execute(),
    (families) => revokeListed(tx, families, now),
  )
}

/** Revokes these token families, unless they were revoked meanwhile. */
export async function revokeListed(tx: Transaction, families: FamilyKey[], revokedAt: Date): Promise<void> {
  const identityIds = [...new Set(families.map((each) => each.identityId))]
  const familyIds = families.map((each) => each.familyId)
  // No two identities have a family with the same ID. A join with a list of pairs could read all rows for each pair.
  await sql`
    ${plannedForValues} update token_family set revoked_at = ${revokedAt}
    where identity_id = any(${identityIds}::uuid[]) and family_id = any(${familyIds}::uuid[])
      and revoked_at is null`.execute(tx)
}

export async function revokeFamiliesOfClient(
  tx: Transaction,
  identityId: IdentityId,
  clientId: ClientId,
  now: Date,
): Promise<void> {
  await revokeWhere(tx, sql`identity_id = ${identityId} and client_id = ${clientId}`, now)
}

/** Revokes all token families of identities. Their access tokens end with them, and are deleted when they expire. */
export async function revokeTokensOf(tx: Transaction, identityIds: IdentityId[], now: Date): Promise<void> {
  await revokeWhere(tx, sql`identity_id = any(${identityIds}::uuid[])`, now)
}

/**
 * Deletes all token families and access tokens of identities. Families go first, so that tokens issued by a concurrent
 * redemption are visible afterwards.
 */
export async function deleteTokensOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  for (const identityId of identityIds) {
    const families = tx.selectFrom('token_family').select('family_id').where('identity_id', '=', identityId)
    await changeInParts(
      (limit) => families.limit(limit).execute(),
      (rows) =>
        sql`
          ${plannedForValues} delete from token_family where identity_id = ${identityId}
            and family_id = any(${rows.map((row) => row.family_id)}::uuid[])`.execute(tx),
    )
    const tokens = tx.selectFrom('token_access_token').select('token_sha256').where('identity_id', '=', identityId)
    await changeInParts(
      (limit) => tokens.limit(limit).execute(),
      (rows) =>
        sql`
          ${plannedForValues} delete from token_access_token where identity_id = ${identityId}
            and token_sha256 = any(${rows.map((row) => row.token_sha256)}::bytea[])`.execute(tx),
    )
  }
}

export async function deleteEndedFamilies(db: Database, now: Date, batch: number): Promise<number> {
  const ended = db
    .selectFrom('token_family')
    .select(['identity_id', 'family_id'])
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(batch)
    // Several processes clean up at the same time, each with other rows.
    .$if(!isDistributed(db), (rows) => rows.forUpdate().skipLocked())
  const { numDeletedRows } = await db
    .deleteFrom('token_family')
    .where(({ eb, refTuple }) =>
      eb(refTuple('identity_id', 'family_id'), 'in', ended.$asTuple('identity_id', 'family_id')),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
