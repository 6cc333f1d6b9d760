import { sql, type RawBuilder } from 'kysely'
import type { IdentityId, OrganizationId, SessionId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import { changedAtOnce } from '#platform/module/batches.ts'

/** All connections of an organization, or one. */
type OfSso = { organizationId: OrganizationId; connectionId?: string }

/** Sessions that only SSO opened, of some identities. */
type OfOrganization = OfSso & { identityIds: IdentityId[] }

/** Sessions of a user, except `kept`. */
type OfPerson = { userId: UserId; kept?: string } & (
  | { which: 'all' }
  | { which: 'one'; sessionId: SessionId }
  /** Sessions that are limited to one of these identities. */
  | { which: 'of identities'; identityIds: IdentityId[] }
  /** Sessions that this passkey opened, and those without a record of the passkey. */
  | { which: 'of passkey'; credentialId: string }
  | { which: 'of recovered passkey'; credentialId: string }
  /** All except the `count` most recently used sessions. `first` names the kind of session that ends first. */
  | { which: 'beyond'; count: number; first: 'least recently used' | 'opened by an organization' }
)

/**
 * Selects sessions by a condition, never by their IDs, so that their number makes no difference. Identity IDs belong to
 * a limited number of users, and are at most twenty of each.
 */
export type SessionsOf = OfOrganization | OfPerson

/**
 * Builds the condition for sessions, and for SSO authentications: the SSO behind them, if any, is not ending. What a
 * request has ended is not accepted from then on, and the cleanup deletes the rows later. Each subquery looks up one
 * row. As `exists`, the database could read the whole table once instead.
 */
export function acceptedText(table: 'session' | 'session_sso_authentication'): string {
  const notIn = (endings: string, key: string) =>
    `(select true from ${endings} ending where ending.${key} = ${table}.${key}) is null`
  const [organization, connection] = [
    notIn('organization_ending', 'organization_id'),
    notIn('sso_connection_ending', 'connection_id'),
  ]
  return `(${table}.organization_id is null or (${organization} and ${connection}))`
}

/**
 * Builds the condition on columns of the table itself, because the planner could join with the whole of another table.
 */
function meant(of: SessionsOf): RawBuilder<boolean> {
  if ('organizationId' in of) return ofOrganization('session', of)
  const others = of.kept === undefined ? sql`` : sql`and session.session_id <> ${of.kept}`
  return sql`session.user_id = ${of.userId} ${others} ${narrowed(of)}`
}

function ofOrganization(table: 'session' | 'session_sso_authentication', of: OfOrganization): RawBuilder<boolean> {
  const { organizationId, connectionId, identityIds } = of
  const organization = sql.ref(`${table}.organization_id`)
  // Authentications are found by identity only, because PostgreSQL uses no index for `is not distinct from`.
  const isOfIt =
    table === 'session'
      ? sql`${organization} = ${organizationId}`
      : sql`${organization} is not distinct from ${organizationId}`
  return sql`${isOfIt} and ${sql.ref(`${table}.identity_id`)} = any(${identityIds}::uuid[])
    ${connectionId === undefined ? sql`` : sql`and ${sql.ref(`${table}.connection_id`)} = ${connectionId}`}`
}

function narrowed(of: OfPerson): RawBuilder<unknown> {
  switch (of.which) {
    case 'all':
      return sql``
    case 'one':
      return sql`and session.session_id = ${of.sessionId}`
    case 'of identities':
      return sql`and session.identity_id = any(${of.identityIds}::uuid[])`
    case 'of passkey':
      return sql`and session.auth_method = 'passkey'
        and (session.credential_id = ${of.credentialId} or session.credential_id is null)`
    case 'of recovered passkey':
      return sql`and session.auth_method = 'recovered_passkey' and session.credential_id = ${of.credentialId}`
    case 'beyond':
      return sql`and session.session_id <> all(array(${selectRecent(of, sql`limit ${of.count}`)}))`
  }
}

type Beyond = Extract<OfPerson, { which: 'beyond' }>

/** Selects a range of the most recent sessions: those that remain, which are few, or those after them. */
function selectRecent({ userId, kept, first }: Beyond, range: RawBuilder<unknown>) {
  const passkeysFirst = first === 'opened by an organization' ? sql`recent.auth_method <> 'passkey',` : sql``
  return sql`
    select recent.session_id from session recent
    where recent.user_id = ${userId} and recent.session_id is distinct from ${kept ?? null}
    order by ${passkeysFirst} recent.last_seen_at desc, recent.session_id ${range}`
}

/** Selects the IDs of sessions, for statements about their tokens. */
export function selectSessions(db: Database, of: SessionsOf) {
  return db.selectFrom('session').select('session.session_id').where(meant(of))
}

/** Locks sessions against concurrent requests, in the same order for all callers. Returns their number. */
export async function lockSessions(tx: Transaction, of: SessionsOf): Promise<number> {
  if (isDistributed(tx)) {
    const isFound = 'userId' in of && of.which !== 'one'
    return isFound ? lockListed(tx, await listOfPerson(tx, of)) : lockInShards(tx, meant(of))
  }
  const { count } = await tx
    .selectFrom(selectSessions(tx, of).orderBy('session.session_id').forUpdate().as('held'))
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Locks rows of several shards, which a distributed database does only for rows that it changes. */
async function lockInShards(tx: Transaction, condition: RawBuilder<boolean>): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('session')
    .set(({ ref }) => ({ user_id: ref('session.user_id') }))
    .where(condition)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Locks any number of sessions in statements of limited size, which stay with the shards of these. */
async function lockListed(tx: Transaction, sessionIds: string[]): Promise<number> {
  let count = 0
  for (let start = 0; start < sessionIds.length; start += changedAtOnce) {
    const part = sessionIds.slice(start, start + changedAtOnce)
    count += await lockInShards(tx, sql`session.session_id = any(${part}::uuid[])`)
  }
  return count
}

/**
 * Lists the IDs of a person's sessions in all shards, where an update would cost several times as much. They are few,
 * and most often none. They are in one order for all callers.
 */
async function listOfPerson(tx: Transaction, of: OfPerson): Promise<string[]> {
  const { rows } =
    of.which === 'beyond'
      ? await sql<{ session_id: string }>`${selectRecent(of, sql`offset ${of.count}`)}`.execute(tx)
      : { rows: await selectSessions(tx, of).execute() }
  return rows.map((row) => row.session_id).toSorted()
}

export async function deleteSessions(tx: Transaction, of: SessionsOf): Promise<void> {
  await tx.deleteFrom('session').where(meant(of)).execute()
}

/** Lists the identities of up to `limit` SSO authentications, for all connections of an organization or one. */
export async function listNamed(
  tx: Transaction,
  { organizationId, connectionId, limit }: OfSso & { limit: number },
): Promise<IdentityId[]> {
  const { rows } = await sql<{ identityId: IdentityId }>`
    select identity_id as "identityId" from session_sso_authentication where organization_id = ${organizationId}
      ${connectionId === undefined ? sql`` : sql`and connection_id = ${connectionId}`}
    limit ${limit}`.execute(tx)
  return rows.map(({ identityId }) => identityId)
}

/** Deletes SSO authentications of an organization, including those in sessions that a passkey opened. */
export async function deleteNamed(tx: Transaction, of: OfOrganization): Promise<void> {
  await tx.deleteFrom('session_sso_authentication').where(ofOrganization('session_sso_authentication', of)).execute()
}

/** Deletes SSO authentications of identities that are being deleted. */
export async function deleteNamedIdentities(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('session_sso_authentication').where('identity_id', 'in', identityIds).execute()
}

/** Deletes up to `batch` sessions that have expired or were last used before an instant. Returns their number. */
export async function deleteEndedSessions(
  db: Database,
  { now, lastSeen }: { now: Date; lastSeen: Date },
  batch: number,
): Promise<number> {
  const ended = db
    .selectFrom('session')
    .select('session_id')
    .where(({ eb, or }) => or([eb('expires_at', '<=', now), eb('last_seen_at', '<=', lastSeen)]))
    .limit(batch)
  const { numDeletedRows } = await db.deleteFrom('session').where('session_id', 'in', ended).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
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
