import type { WebhookEventType } from '@countersign/protocol/clients/webhook-events'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Transaction } from '#platform/database/database.ts'

/**
 * An app with a webhook that an identity is connected to. `version` is that of the identity, and `scope` is what it has
 * granted and the app is still allowed.
 */
export type Recipient = { identityId: IdentityId; version: number; clientId: ClientId; scope: string[] }

/** Lists the active apps with an active webhook that have a scope of identities which the transaction has changed. */
export async function listRecipients(tx: Transaction, identityIds: IdentityId[]): Promise<Recipient[]> {
  const { rows } = await sql<Recipient>`
    select consent.identity_id as "identityId", version, consent.client_id as "clientId",
      array(select unnest(scope) intersect select unnest(allowed_scopes)) as scope
    from authorization_consent consent join identity using (identity_id) join webhook_endpoint using (client_id)
      join app using (client_id)
    where consent.identity_id = any(${identityIds}::uuid[]) and cardinality(scope) > 0
      and disabled_at is null and app.status = 'active'`.execute(tx)
  return rows
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
      groups_claim = 'all'
      or exists (select from app_access_group named
        where named.client_id = app.client_id and named.group_id = joined.group_id)
      or exists (select from app_role_group named
        where named.client_id = app.client_id and named.group_id = joined.group_id)
    )`.execute(tx)
  return rows
}

export type AppEventRow = { clientId: ClientId; type: WebhookEventType; data: string; happenedAt: Date }

export async function insertEvents(tx: Transaction, events: AppEventRow[]): Promise<void> {
  const times = events.map(({ happenedAt }) => happenedAt.toISOString())
  await sql`
    insert into app_event (event_id, client_id, type, data, happened_at)
    select gen_random_uuid(), client_id, type, data, happened_at
    from unnest(${events.map(({ clientId }) => clientId)}::text[], ${events.map(({ type }) => type)}::text[],
      ${events.map(({ data }) => data)}::text[], ${times}::timestamptz[])
      as event (client_id, type, data, happened_at)`.execute(tx)
}

/** Deletes and returns up to `count` events that are due, the oldest first. */
export async function takeDue(tx: Transaction, now: Date, count: number): Promise<AppEventRow[]> {
  const { rows } = await sql<AppEventRow>`
    delete from app_event where event_id = any(array(
      select event_id from app_event where happened_at <= ${now}
      order by happened_at limit ${count} for update skip locked
    ))
    returning client_id as "clientId", type, data, happened_at as "happenedAt"`.execute(tx)
  return rows
}
