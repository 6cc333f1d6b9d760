import { sql } from 'kysely'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId, OrganizationId, SessionId, UserId } from '@countersign/protocol/ids'
import { type BatchStatement, requestedRows } from '#platform/database/batching.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { inShards, isDistributed, onOneServer } from '#platform/database/distributed/engine.ts'
import { sendAhead } from '#platform/database/pipeline.ts'
import { acceptedText } from './ending-store.ts'

/**
 * A session as stored. An SSO session names its identity and its organization, that of a recovered passkey its identity
 * and the end of the hold, a passkey session none of them.
 */
export type SessionRow = {
  sessionId: SessionId
  tokenSha256: Uint8Array
  federatedSha256: Uint8Array | null
  userId: UserId
  authMethod: 'passkey' | 'enterprise_sso' | 'recovered_passkey'
  identityId: IdentityId | null
  organizationId: OrganizationId | null
  holdUntil: Date | null
  authTime: Date
  provedRequestSha256: Uint8Array | null
  userAgent: string | null
  lastSeenAt: Date
  expiresAt: Date
}

/** A session with the last ones of its user that it has replaced in its browser, the latest first. */
export type Successor = SessionRow & { replacedSessionIds: SessionId[] }

const sessionColumns = `
  session_id as "sessionId", token_sha256 as "tokenSha256", fedcm_token_sha256 as "federatedSha256",
  user_id as "userId", auth_method as "authMethod", identity_id as "identityId", organization_id as "organizationId",
  hold_until as "holdUntil", auth_time as "authTime", proved_request_sha256 as "provedRequestSha256",
  user_agent as "userAgent", last_seen_at as "lastSeenAt", expires_at as "expiresAt"`

const isAccepted = sql.raw<boolean>(acceptedText('session'))
const isSsoAccepted = sql.raw<boolean>(acceptedText('session_sso_authentication'))

export async function findSession(db: Database, sessionId: SessionId): Promise<SessionRow | undefined> {
  const { rows } = await sql<SessionRow>`
    select ${sql.raw(sessionColumns)} from session where session_id = ${sessionId} and ${isAccepted}`.execute(db)
  return rows[0]
}

/** Finds a session, with those that it has replaced in its browser. */
export async function findSuccessor(db: Database, sessionId: SessionId): Promise<Successor | undefined> {
  const { rows } = await sql<Successor>`
    select ${sql.raw(sessionColumns)}, replaced_session_ids as "replacedSessionIds"
    from session where session_id = ${sessionId} and ${isAccepted}`.execute(db)
  return rows[0]
}

/** Looks up sessions by their tokens. $1 session, $2 hash of the token. */
export const findSessionStatement: BatchStatement = {
  name: 'find session',
  own: 1,
  text: `
    select nth::integer, token_sha256 as own, ${sessionColumns}
    from ${requestedRows('session_id uuid, token_sha256 bytea')}
    join session using (session_id, token_sha256)
    where ${acceptedText('session')} ${inShards('and session.session_id = any($1)')}`,
}

/** Identity to which a recovered passkey is limited, and until when another passkey undoes the recovery. */
export type LimitedTo = { identityId: IdentityId; holdUntil: Date }
type OfPasskey = { credentialId: string; provedRequestSha256: Uint8Array | null }

export type NewSession = {
  sessionId: SessionId
  tokenSha256: Uint8Array
  federatedSha256: Uint8Array | null
  userId: UserId
  /** Passkey, or identity, organization and connection of an SSO authentication, that opens the session. */
  openedBy:
    | ({ authMethod: 'passkey' } & OfPasskey)
    | ({ authMethod: 'recovered_passkey' } & OfPasskey & LimitedTo)
    | { authMethod: 'enterprise_sso'; identityId: IdentityId; organizationId: OrganizationId; connectionId: string }
  userAgent: string | undefined
  replacedSessionIds: SessionId[]
  expiresAt: Date
  now: Date
}

export function insertSession(
  tx: Transaction,
  { sessionId, tokenSha256, federatedSha256, userId, openedBy, userAgent, replacedSessionIds, ...times }: NewSession,
): void {
  const inserted = tx.insertInto('session').values({
    ...originColumns(openedBy),
    session_id: sessionId,
    token_sha256: tokenSha256,
    fedcm_token_sha256: federatedSha256,
    user_id: userId,
    user_agent: userAgent?.slice(0, limits.userAgentCharactersMax) ?? null,
    replaced_session_ids: replacedSessionIds,
    created_at: times.now,
    auth_time: times.now,
    last_seen_at: times.now,
    expires_at: times.expiresAt,
  })
  sendAhead(tx, inserted)
}

function originColumns(openedBy: NewSession['openedBy']) {
  const { authMethod: auth_method } = openedBy
  if (openedBy.authMethod !== 'enterprise_sso') {
    const { credentialId, provedRequestSha256 } = openedBy
    const limitedTo = openedBy.authMethod === 'passkey' ? undefined : openedBy
    return {
      auth_method,
      identity_id: limitedTo?.identityId ?? null,
      hold_until: limitedTo?.holdUntil ?? null,
      credential_id: credentialId,
      proved_by: credentialId,
      proved_request_sha256: provedRequestSha256,
    }
  }
  const { identityId, organizationId, connectionId } = openedBy
  return { auth_method, identity_id: identityId, organization_id: organizationId, connection_id: connectionId }
}

export async function listSessionsOfUser(db: Database, userId: UserId) {
  const ofUser = db
    .selectFrom('session')
    .select(['session_id as sessionId', 'user_agent as userAgent', 'auth_method as authMethod'])
    .select(['session.created_at as createdAt', 'last_seen_at as lastSeenAt', 'expires_at as expiresAt'])
    .select('session.credential_id as credentialId')
    .where('session.user_id', '=', userId)
    .where(isAccepted)
    .orderBy('last_seen_at', 'desc')
    .orderBy('session_id')
  if (!isDistributed(db))
    return ofUser
      .leftJoin('passkey_credential', 'passkey_credential.credential_id', 'session.credential_id')
      .select('passkey_credential.name as passkeyName')
      .modifyEnd(onOneServer)
      .execute()
  const sessions = await ofUser.execute()
  const { rows } = await sql<{ credentialId: string; name: string }>`
    select credential_id as "credentialId", name from passkey_credential
    where credential_id = any(${sessions.flatMap(({ credentialId }) => credentialId ?? [])}::text[])`.execute(db)
  const names = new Map(rows.map(({ credentialId, name }) => [credentialId, name]))
  return sessions.map((session) => ({ ...session, passkeyName: names.get(session.credentialId ?? '') ?? null }))
}

/**
 * Locks a session until the transaction ends. Returns undefined if it has ended. The lock is exclusive, so waiting
 * transactions are served in turn: a shared lock could be held forever against the transaction that ends the session.
 * Fails as a transaction conflict (`55P03`) after `patienceMilliseconds`.
 */
export async function lockSession(
  tx: Transaction,
  sessionId: SessionId,
  patienceMilliseconds?: number,
): Promise<{ authTime: Date } | undefined> {
  const session = selectAuthTime(tx, sessionId).forNoKeyUpdate()
  if (patienceMilliseconds === undefined) return session.executeTakeFirst()
  // PostgreSQL evaluates the condition before it locks the row.
  const limited = sql<boolean>`set_config('lock_timeout', ${String(patienceMilliseconds)}, true) is not null`
  return session.where(limited).executeTakeFirst()
}

/** Returns the last authentication time of a session, as this transaction sees it, or undefined. */
export function findAuthTime(tx: Transaction, sessionId: SessionId): Promise<{ authTime: Date } | undefined> {
  return selectAuthTime(tx, sessionId).executeTakeFirst()
}

function selectAuthTime(tx: Transaction, sessionId: SessionId) {
  return tx.selectFrom('session').select('auth_time as authTime').where('session_id', '=', sessionId).where(isAccepted)
}

export async function touchSession(db: Database, sessionId: SessionId, now: Date): Promise<void> {
  await db.updateTable('session').set({ last_seen_at: now }).where('session_id', '=', sessionId).execute()
}

/** Use of a passkey in a session, with the hash of the reference of its authorization request. */
export type Proof = { sessionId: SessionId; credentialId: string; provedRequestSha256: Uint8Array | null }

/** Records an authentication by a passkey. Returns false if the session has ended. */
export async function setProof(
  tx: Transaction,
  { sessionId, credentialId, provedRequestSha256 }: Proof,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('session')
    .set({ auth_time: now, proved_by: credentialId, proved_request_sha256: provedRequestSha256 })
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Removes the limit of the sessions that a recovered passkey has opened. */
export async function removeLimit(tx: Transaction, { userId, credentialId }: { userId: UserId; credentialId: string }) {
  await tx
    .updateTable('session')
    .set({ auth_method: 'passkey', identity_id: null, hold_until: null })
    .where('user_id', '=', userId)
    .where('auth_method', '=', 'recovered_passkey')
    .where('credential_id', '=', credentialId)
    .execute()
}

/** Returns the passkey that authenticated last in a session. */
export function findProof(tx: Transaction, sessionId: SessionId) {
  return tx.selectFrom('session').select('proved_by as provedBy').where('session_id', '=', sessionId).executeTakeFirst()
}

/** Assigns a session to the passkey that authenticated in it last. */
export async function setCredentialOfProof(tx: Transaction, sessionId: SessionId): Promise<void> {
  await tx
    .updateTable('session')
    .set(({ ref }) => ({ credential_id: ref('proved_by') }))
    .where('session_id', '=', sessionId)
    .execute()
}

/** Resets the last authentication of sessions to their creation, if a removed passkey performed it. */
export async function revertProofs(
  tx: Transaction,
  { userId, credentialId }: { userId: UserId; credentialId: string },
): Promise<void> {
  await tx
    .updateTable('session')
    .set(({ ref }) => ({
      auth_time: ref('created_at'),
      proved_by: ref('credential_id'),
      proved_request_sha256: null,
    }))
    .where('user_id', '=', userId)
    .where('proved_by', '=', credentialId)
    .execute()
}

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
    .where(isSsoAccepted)
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
    .where(isSsoAccepted)
    .execute()
  return rows.map(({ organizationId }) => organizationId)
}

export function moveSsoAuthentication(
  tx: Transaction,
  earlier: { sessionId: SessionId; tokenSha256: Uint8Array },
  later: { sessionId: SessionId; userId: UserId },
): void {
  const ofTheSame = tx
    .selectFrom('session')
    .select('session_id')
    .where('session_id', '=', earlier.sessionId)
    .where('token_sha256', '=', earlier.tokenSha256)
    .where('user_id', '=', later.userId)
  // A row belongs to its session: with another one, it is in another shard.
  const moved = sql`
    with moved as (
      delete from session_sso_authentication where session_id = ${earlier.sessionId} and session_id in (${ofTheSame})
      returning organization_id, connection_id, identity_id, authenticated_at
    )
    insert into session_sso_authentication (session_id, organization_id, connection_id, identity_id, authenticated_at)
    select ${later.sessionId}::uuid, organization_id, connection_id, identity_id, authenticated_at from moved`
  sendAhead(tx, moved)
}
