import type { WebhookEventType } from '@countersign/protocol/clients/webhook-events'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Transaction } from '#platform/database/database.ts'
import { isDistributed, onOneServer } from '#platform/database/distributed/engine.ts'

/**
 * An app with a webhook that an identity is connected to, or the service if `clientId` is null. `sequence` is that of
 * the events of the identity, and `scope` is what it has granted and the app is still allowed.
 */
export type Recipient = { identityId: IdentityId; sequence: number; clientId: ClientId | null; scope: string[] }

/** Condition on a webhook: it is of the service, and gets events of these types. */
const hearsOfService = (types: readonly string[]) => sql`client_id is null and disabled_at is null
  and (event_types = '{}' or event_types && ${types}::text[])`

/**
 * Lists the active apps with an active webhook that have a scope of identities which the transaction has changed, and
 * for each of these identities the service, if a webhook of it gets events of these types.
 */
export async function listRecipients(
  tx: Transaction,
  identityIds: IdentityId[],
  types: readonly string[],
): Promise<Recipient[]> {
  // One server would plan a worse statement with it.
  const alsoOfIdentities = isDistributed(tx) ? sql`and identity.identity_id = any(${identityIds}::uuid[])` : sql``
  const ofApps = sql<Allowed | OfService>`
    select consent.identity_id as "identityId", version as sequence, consent.client_id as "clientId", scope,
      allowed_scopes as allowed
    from authorization_consent consent join identity using (identity_id) join webhook_endpoint using (client_id)
      join app using (client_id)
    where consent.identity_id = any(${identityIds}::uuid[]) ${alsoOfIdentities} and cardinality(scope) > 0
      and disabled_at is null and app.status = 'active'`
  const ofService = sql<OfService>`
    select null::uuid, null::integer, null, null::text[], null::text[]
    where exists (select from webhook_endpoint where ${hearsOfService(types)})`
  const rows = isDistributed(tx)
    ? (await Promise.all([ofApps.execute(tx), ofService.execute(tx)])).flatMap((one) => one.rows)
    : (await sql<Allowed | OfService>`${ofApps} union all ${ofService} ${onOneServer}`.execute(tx)).rows
  const apps = rows.filter(isOfApp).map(({ allowed, ...recipient }) => ({
    ...recipient,
    scope: recipient.scope.filter((each) => allowed.includes(each)),
  }))
  return apps.length < rows.length ? [...apps, ...(await listForService(tx, identityIds))] : apps
}

/** Row of a connected app, with what it is still allowed, and row that stands for the service. */
type Allowed = Recipient & { allowed: string[] }
type OfService = { identityId?: null }

const isOfApp = (row: Allowed | OfService): row is Allowed => Boolean(row.identityId)

async function listForService(tx: Transaction, identityIds: IdentityId[]): Promise<Recipient[]> {
  const rows = await tx
    .selectFrom('identity')
    .select(['identity_id as identityId', 'version as sequence'])
    .where('identity_id', 'in', identityIds)
    .execute()
  return rows.map((row) => ({ ...row, clientId: null, scope: [] }))
}

type SharedGroup = { clientId: ClientId; groupId: string }

/** Lists which of the groups each app may know: those that its access or its roles name, or all. */
export async function listSharedGroups(
  tx: Transaction,
  clientIds: ClientId[],
  groupIds: string[],
): Promise<SharedGroup[]> {
  const { rows } = await sql<SharedGroup>`
    select client_id as "clientId", group_id as "groupId"
    from app cross join unnest(${groupIds}::uuid[]) as joined (group_id)
    where client_id = any(${clientIds}::text[]) and (
      (groups_claim = 'all' and exists (
        select from user_group where user_group.group_id = joined.group_id and managed_by is null offset 0
      ))
      or exists (select from app_access_group named
        where named.client_id = app.client_id and named.group_id = joined.group_id offset 0)
      or exists (select from app_role_group named
        where named.client_id = app.client_id and named.group_id = joined.group_id offset 0)
    )`.execute(tx)
  return rows
}

export type AppEventRow = { clientId: ClientId | null; type: WebhookEventType; data: string; happenedAt: Date }

export async function insertEvents(tx: Transaction, events: AppEventRow[]): Promise<void> {
  const times = events.map(({ happenedAt }) => happenedAt.toISOString())
  await sql`
    insert into app_event (event_id, client_id, type, data, happened_at)
    select gen_random_uuid(), client_id, type, data, happened_at
    from unnest(${events.map(({ clientId }) => clientId)}::text[], ${events.map(({ type }) => type)}::text[],
      ${events.map(({ data }) => data)}::text[], ${times}::timestamptz[])
      as event (client_id, type, data, happened_at)`.execute(tx)
}

/** Inserts an event of a group, if a webhook of the service gets events of its type. Returns whether one does. */
export async function insertGroupEvent(tx: Transaction, { type, data, happenedAt }: GroupEventRow): Promise<boolean> {
  const { rows } = await sql`
    insert into app_event (event_id, type, data, happened_at)
    select gen_random_uuid(), ${type}::text, ${data}::text, ${happenedAt}::timestamptz
    where exists (select from webhook_endpoint where ${hearsOfService([type])}) returning event_id`.execute(tx)
  return rows.length > 0
}

type GroupEventRow = Omit<AppEventRow, 'clientId'>

/** Deletes and returns up to `count` events that are due, the oldest ones. */
export async function takeDue(tx: Transaction, now: Date, count: number): Promise<AppEventRow[]> {
  const { rows } = await sql<AppEventRow>`
    with due as materialized (
      select happened_at, event_id from app_event where happened_at <= ${now}
      order by happened_at, event_id limit ${count} for update skip locked
    )
    delete from app_event using due where app_event.happened_at = due.happened_at and app_event.event_id = due.event_id
    returning client_id as "clientId", type, data, app_event.happened_at as "happenedAt"`.execute(tx)
  return rows
}
