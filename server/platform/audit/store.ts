import { type Insertable, type RawBuilder, sql, type Selectable } from 'kysely'
import type { ClientId, IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import { type Database, isTransaction, type Transaction } from '#platform/database/database.ts'
import { isDistributed, onOneServer } from '#platform/database/distributed/engine.ts'
import { rowQuery } from '#platform/database/distributed/row-query.ts'
import { sendAhead } from '#platform/database/pipeline.ts'
import type { Tables } from '#platform/database/tables.ts'

type NewEvent = Omit<Insertable<Tables['audit_event']>, 'app_name'>

/**
 * Inserts an audit event with the current name of its app, and queues it for the trail of its organization in the same
 * statement, unless it has a place already.
 */
export async function insertAuditEvent(
  db: Database | Transaction,
  event: NewEvent,
  { isPlaced = false } = {},
): Promise<void> {
  const { organization_id, event_id, client_id } = event
  const insert = client_id ? insertNamed(db, event, client_id) : db.insertInto('audit_event').values(event)
  const hasPlace = isPlaced || organization_id === null || organization_id === undefined
  const statement = hasPlace
    ? insert
    : db
        .with('recorded', () => insert)
        .insertInto('organization_trail_pending')
        .values({ organization_id, event_id })
  if (isTransaction(db)) sendAhead(db, statement)
  else await statement.execute()
}

function insertNamed(db: Database | Transaction, event: NewEvent, clientId: ClientId) {
  const { columns, query } = rowQuery({ ...event, app_name: sql`(select name from app where client_id = ${clientId})` })
  return db.insertInto('audit_event').columns(columns).expression(query)
}

/** Events of one statement: PostgreSQL permits 65,535 parameters, and an event has up to 15. */
const eventsPerStatement = 1000

/** Inserts audit events that name neither an app nor an organization. */
export async function insertAuditEvents(db: Database | Transaction, events: NewEvent[]): Promise<void> {
  for (let from = 0; from < events.length; from += eventsPerStatement)
    await db
      .insertInto('audit_event')
      .values(events.slice(from, from + eventsPerStatement))
      .execute()
}

type OfOrganization = {
  organizationId: OrganizationId
  before?: string | undefined
  action?: string | undefined
  by?: IdentityId | undefined
  from?: Date | undefined
  until?: Date | undefined
}

/**
 * Lists the newest audit events of an organization, older than the event `before` if given, of all actions or those
 * with a prefix, by all or one identity, at any time or within bounds.
 */
export async function listAuditEventsOfOrganization(
  db: Database,
  { organizationId, before, action, by, from, until }: OfOrganization,
  count: number,
) {
  const ofOrganization = db
    .selectFrom('audit_event')
    .select([
      ...(['event_id as entryId', 'occurred_at as at', 'action', 'actor'] as const),
      ...(['audit_event.identity_id as identityId', 'client_id as clientId'] as const),
    ])
    .select(({ ref }) => ref('details').$castTo<Record<string, unknown>>().as('details'))
    .where('organization_id', '=', organizationId)
    .$if(before !== undefined, (older) => older.where('event_id', '<', before ?? ''))
    .$if(action !== undefined, (some) =>
      some.where(({ eb, or }) => or([eb('action', '=', action ?? ''), eb('action', 'like', `${prefixOf(action)}.%`)])),
    )
    .$if(by !== undefined, (some) => some.where('audit_event.identity_id', '=', by ?? null))
    .$if(from !== undefined, (some) => some.where('occurred_at', '>=', from ?? null))
    .$if(until !== undefined, (some) => some.where('occurred_at', '<', until ?? null))
    .orderBy('event_id', 'desc')
    .limit(count)
  // A user who declined never joined: the organization does not follow their later names.
  if (!isDistributed(db))
    return ofOrganization
      .leftJoin('identity', 'identity.identity_id', 'audit_event.identity_id')
      .select(sql<string | null>`case when action <> 'organization.invitation.declined' then handle end`.as('handle'))
      .modifyEnd(onOneServer)
      .execute()

  const events = await ofOrganization.execute()
  const joined = events.filter((event) => event.action !== 'organization.invitation.declined')
  const handles = await listHandles(
    db,
    joined.flatMap(({ identityId }) => identityId ?? []),
  )
  return events.map((event) => ({
    ...event,
    handle: (joined.includes(event) && handles.get(event.identityId ?? '')) || null,
  }))
}

async function listHandles(db: Database, identityIds: IdentityId[]): Promise<Map<string, string>> {
  if (identityIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('identity')
    .select(['identity_id as identityId', 'handle'])
    .where(sql<boolean>`identity_id = any(${[...new Set(identityIds)]}::uuid[])`)
    .execute()
  return new Map(rows.map(({ identityId, handle }) => [identityId, handle]))
}

type OfPeople = { organizationId: OrganizationId; members: IdentityId[]; invitees: IdentityId[] }

/**
 * Returns the present names of identities that are or were members, and of invitees while they are invited or members:
 * an organization must not follow the names of those who never joined.
 */
export function listNamedIdentities(db: Database, { organizationId, members, invitees }: OfPeople, now: Date) {
  return db
    .selectFrom('identity')
    .select(['identity_id as identityId', 'handle', 'display_name as displayName', 'avatar_url as avatarUrl'])
    .where('identity_id', 'in', [...members, ...invitees])
    .where(
      sql<boolean>`(identity_id = any(${members}::uuid[]) or exists (
        select from organization_member member
        where member.organization_id = ${organizationId} and member.identity_id = identity.identity_id
      ) or exists (
        select from organization_invitation invitation
        where invitation.organization_id = ${organizationId} and invitation.identity_id = identity.identity_id
          and accepted_at is null and expires_at > ${now}
      ))`,
    )
    .orderBy('identity_id')
    .execute()
}

type Named = { id: string; name: string }

/** Returns the present usernames of identities, also of invited ones, and names of organizations, by their IDs. */
export async function listPresentNames(
  db: Database,
  { identityIds, organizationIds }: { identityIds: IdentityId[]; organizationIds: OrganizationId[] },
): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  const identities = sql<Named>`
    select identity_id as id, handle as name from identity where identity_id = any(${identityIds}::uuid[])
    union all
    select identity_id, handle from invited_identity where identity_id = any(${identityIds}::uuid[])`
  const organizations = sql<Named>`
    select organization_id as id, name from organization where organization_id = any(${organizationIds}::uuid[])`
  for (const [ids, named] of [[identityIds, identities] as const, [organizationIds, organizations] as const])
    if (ids.length > 0) for (const { id, name } of (await named.execute(db)).rows) names.set(id, name)
  return names
}

/** Escapes the prefix of an action name for LIKE. */
export function prefixOf(action = ''): string {
  return action.replaceAll('_', String.raw`\_`)
}

type Page = {
  before?: string | undefined
  count: number
  /** Beginnings of the names of actions. By default, those of all. */
  actions?: readonly string[] | undefined
  /** Only events of this identity. */
  identityId?: IdentityId | undefined
}

type EntryOfUser = {
  entryId: string
  at: Date
  action: string
  actor: Selectable<Tables['audit_event']>['actor']
  identityId: IdentityId | null
  clientId: ClientId | null
  appName: string | null
  organizationId: OrganizationId | null
  address: string | null
  device: string | null
  details: Record<string, unknown>
}

/** Greater than every event ID. */
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Lists audit events by a user, and by others that concern their identities: `count` events older than `before`, newest
 * first, of all kinds or of some. Each identity is queried separately, because only then an index provides the order.
 * A page of all kinds reads no more rows than it returns.
 */
export async function listAuditEventsOfUser(db: Database, userId: UserId, page: Page) {
  const { before = lastId, count, actions, identityId } = page
  const patterns = actions?.map((beginning) => `${prefixOf(beginning)}%`)
  const ofKind = patterns ? sql`and action like any(${patterns}::text[])` : sql``
  const ofIdentity = identityId ? sql`and identity_id = ${identityId}` : sql``
  // The network of another person, such as an operator, is not of this user.
  const columns = sql`event_id, occurred_at, action, actor, identity_id, client_id, app_name, device, details,
    organization_id, case when user_id = ${userId} and actor = 'user' then origin_network end as address`
  const identities = sql<{ identity_id: IdentityId }>`select identity_id from identity where user_id = ${userId}`
  const byOthers = (own: RawBuilder<unknown>) => sql`
    select ${columns} from audit_event
    where audit_event.identity_id = ${own} and audit_event.user_id is null and event_id < ${before}
      ${ofKind} ${ofIdentity}
    order by event_id desc limit ${count}`
  const others = isDistributed(db)
    ? (await identities.execute(db)).rows.map(({ identity_id }) => sql`union all (${byOthers(sql`${identity_id}`)})`)
    : [
        sql`union all (
          select others.* from (${identities}) own cross join lateral (${byOthers(sql`own.identity_id`)}) others
          ${onOneServer}
        )`,
      ]
  const { rows } = await sql<EntryOfUser>`
    with entry as (
      (
        select ${columns} from audit_event
        where user_id = ${userId} and event_id < ${before} ${ofKind} ${ofIdentity}
        order by event_id desc limit ${count}
      ) ${sql.join(others, sql` `)}
    )
    select event_id as "entryId", occurred_at as at, action, actor, identity_id as "identityId",
      client_id as "clientId", app_name as "appName", organization_id as "organizationId", address, device, details
    from entry order by event_id desc limit ${count}`.execute(db)
  return rows
}

type EntryOfIdentity = Omit<EntryOfUser, 'identityId' | 'address' | 'device'>

/**
 * Lists events of an identity, newest first: `count` of them, older than `before`. Those of its account are left out,
 * and its creation, which differs between a first and a further identity of an account.
 */
export async function listAuditEventsOfIdentity(
  db: Database,
  identityId: IdentityId,
  { before = lastId, count }: { before?: string | undefined; count: number },
) {
  const { rows } = await sql<EntryOfIdentity>`
    select event_id as "entryId", occurred_at as at, action, actor, client_id as "clientId", app_name as "appName",
      organization_id as "organizationId", details
    from audit_event
    where identity_id = ${identityId} and event_id < ${before} and action <> 'identity.created'
      and action not like 'account.%' and action not like 'passkey.%' and action not like 'session.%'
    order by event_id desc limit ${count}`.execute(db)
  return rows
}

/** Locks an identity until the transaction ends. Returns false if it does not exist. */
export async function lockViewedIdentity(tx: Transaction, identityId: IdentityId): Promise<boolean> {
  // In this order: one that is accepted in between is found.
  for (const table of ['invited_identity', 'identity'] as const) {
    const locked = tx.selectFrom(table).select('identity_id').where('identity_id', '=', identityId).forNoKeyUpdate()
    if (await locked.executeTakeFirst()) return true
  }
  return false
}

/**
 * Inserts an event of an operator's look at an identity, unless there is one of the same operator after `since`. The
 * caller has locked the identity.
 */
export async function insertViewUnlessRecent(tx: Transaction, view: NewEvent, since: Date): Promise<void> {
  const { operator_kind: kind, operator_id: id } = view
  const recent = sql`
    select event_id from audit_event
    where identity_id = ${view.identity_id} and action = 'identity.viewed' and occurred_at > ${since}
      and operator_kind is not distinct from ${kind}::text and operator_id is not distinct from ${id}::uuid
    limit 1`
  // A distributed database looks for it in all shards, but not in a statement that inserts a row.
  const isMissing = isDistributed(tx)
    ? sql`${(await recent.execute(tx)).rows.length === 0}`
    : sql`not exists (${recent}) ${onOneServer}`
  const { columns, query } = rowQuery(view)
  const insert = tx
    .insertInto('audit_event')
    .columns(columns)
    .expression(sql`${query} where ${isMissing}`)
  await insert.execute()
}
