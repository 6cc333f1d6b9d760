import { sql, type RawBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

/** Sessions that only the sign-in of an organization has opened: by each of its connections, or one; of all members. */
type OfOrganization = { organizationId: string; connectionId?: string; identityIds?: string[] }

/** Sessions of a person, all but `kept`. */
type OfPerson = { userId: string; kept?: string } & (
  | { which: 'all' }
  | { which: 'one'; sessionId: string }
  /** Those that only the sign-in of an organization has opened, as one of these identities. */
  | { which: 'of identities'; identityIds: string[] }
  /** Those that a passkey has opened, or may have: where that was not recorded yet. */
  | { which: 'of passkey'; credentialId: string }
  /** All but so many that were used last; `first` says which kind of session goes before the others. */
  | { which: 'beyond'; count: number; first: 'least recently used' | 'opened by an organization' }
)

/**
 * Which sessions are meant: a condition and never their ids, so that it makes no difference how many there are.
 * Identity ids are those of one person, at most twenty.
 */
export type SessionsOf = OfOrganization | OfPerson

/**
 * The condition, in columns of the table itself: a join could be one with the whole of another, as the planner sees it.
 */
function meant(of: SessionsOf): RawBuilder<boolean> {
  if ('organizationId' in of) return ofOrganization('session', of)
  const others = of.kept === undefined ? sql`` : sql`and session.session_id <> ${of.kept}`
  return sql`session.user_id = ${of.userId} ${others} ${narrowed(of)}`
}

function ofOrganization(table: 'session' | 'session_enterprise_sso', of: OfOrganization): RawBuilder<boolean> {
  const { organizationId, connectionId, identityIds } = of
  const organization = sql.ref(`${table}.organization_id`)
  // What a session was named as is found by the identities alone: no index is used for `is not distinct from`.
  const isOfIt =
    identityIds === undefined || table === 'session'
      ? sql`${organization} = ${organizationId}`
      : sql`${organization} is not distinct from ${organizationId}`
  return sql`${isOfIt}
    ${connectionId === undefined ? sql`` : sql`and ${sql.ref(`${table}.connection_id`)} = ${connectionId}`}
    ${identityIds === undefined ? sql`` : sql`and ${sql.ref(`${table}.identity_id`)} = any(${identityIds}::uuid[])`}`
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
      return sql`and session.identity_id is null
        and (session.credential_id = ${of.credentialId} or session.credential_id is null)`
    case 'beyond':
      return sql`and session.session_id <> all(array(${selectRecent(of)}))`
  }
}

/** Those that stay: as few as there may be, whatever the number of those that go. */
function selectRecent({ userId, kept, count, first }: Extract<OfPerson, { which: 'beyond' }>) {
  const passkeysFirst = first === 'opened by an organization' ? sql`recent.identity_id is not null,` : sql``
  return sql`
    select recent.session_id from session recent
    where recent.user_id = ${userId} and recent.session_id is distinct from ${kept ?? null}
    order by ${passkeysFirst} recent.last_seen_at desc, recent.session_id limit ${count}`
}

/** Their ids, for statements about what they gave. */
export function selectSessions(db: Database, of: SessionsOf) {
  return db.selectFrom('session').select('session.session_id').where(meant(of))
}

/** Locks sessions against what is done by one, in an order that is the same for all who do so, and says how many. */
export async function lockSessions(tx: Transaction, of: SessionsOf): Promise<number> {
  const { count } = await tx
    .selectFrom(selectSessions(tx, of).orderBy('session.session_id').forUpdate().as('held'))
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function deleteSessions(tx: Transaction, of: SessionsOf): Promise<void> {
  await tx.deleteFrom('session').where(meant(of)).execute()
}

/** Deletes what the sign-in of an organization has said, also in sessions that a passkey has opened. */
export async function deleteNamed(tx: Transaction, of: OfOrganization): Promise<void> {
  await tx.deleteFrom('session_enterprise_sso').where(ofOrganization('session_enterprise_sso', of)).execute()
}

/** Deletes what any organization has said of identities that are going. */
export async function deleteNamedIdentities(tx: Transaction, identityIds: string[]): Promise<void> {
  await tx.deleteFrom('session_enterprise_sso').where('identity_id', 'in', identityIds).execute()
}

/**
 * Notes of up to `batch` sessions which organization opened them, where that is not noted, and deletes those of them of
 * which it has taken back its word. Says how many those were.
 */
export async function noteOrganizations(db: Database, batch: number): Promise<number> {
  const { rows } = await sql<{ session_id: string }>`
    with unnoted as (
      select session_id from session where identity_id is not null and organization_id is null limit ${batch}
    ), noted as (
      update session set organization_id = named.organization_id, connection_id = named.connection_id
      from unnoted join session_enterprise_sso named using (session_id)
      where session.session_id = unnoted.session_id and session.organization_id is null
      returning session.session_id
    ), ended as (
      delete from session using unnoted
      where session.session_id = unnoted.session_id and session.organization_id is null and not exists (
        select from session_enterprise_sso named where named.session_id = unnoted.session_id
      )
      returning session.session_id
    )
    select session_id from noted union all select session_id from ended`.execute(db)
  return rows.length
}
