import { sql } from 'kysely'
import type { ClientId, IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'
import { readFirst } from '#platform/database/distributed/keys.ts'
import { beginningCharacters } from '#signing/requests/text-title.ts'
import * as organizationAnswerStore from '#signing/requests/organizations/organization-answer-store.ts'

/**
 * Position in a list of pending requests, by expiry. Connected apps come first, so that unknown apps cannot push their
 * requests off a page.
 */
export type Position = { isConnected: boolean; expiresAt: Date; requestId: string }

/**
 * Page of pending requests. Connections count as of `asOf`, which is the same for all pages of a list; a change between
 * two pages therefore omits no request.
 */
type Requested = { after: Position; asOf: Date; count: number }

/** Pending request with the beginning of its text, and the size of all of it. */
export type Waiting = Position & { clientId: ClientId; beginning: string; textBytes: number }
export type WaitingForIdentity = Waiting & { identityId: IdentityId; handle: string }
export type WaitingForOrganization = Waiting & { organizationId: OrganizationId; organizationName: string }

const inOrder = sql`not is_connected, expires_at, request_id`
const pageOf = ({ after: { isConnected, expiresAt, requestId }, count }: Requested) => sql`
  where (${inOrder}) > (${!isConnected}::boolean, ${expiresAt}::timestamptz, ${requestId}::uuid)
  order by ${inOrder} limit ${count}`

// The beginning is cut here, and not where all requests are ordered: only those of the page are decompressed for it.
const columns = sql`request_id as "requestId", client_id as "clientId", expires_at as "expiresAt",
  left(payload, ${beginningCharacters}) as beginning, octet_length(payload) as "textBytes",
  is_connected as "isConnected"`

/** Lists the pending requests of a user, read per identity: a join over all pending requests could read every one. */
export async function listWaitingForUser(db: Database, userId: UserId, requested: Requested, now: Date) {
  const { rows } = await sql<WaitingForIdentity>`
    select identity.identity_id as "identityId", handle, ${columns}
    from identity cross join lateral (
      select * from (
        select request_id, client_id, expires_at, payload, exists (
          select from authorization_consent consent
          where consent.identity_id = identity.identity_id and consent.client_id = signing_request.client_id
            and created_at <= ${requested.asOf}
        ) as is_connected
        from signing_request where signing_request.identity_id = identity.identity_id and ${isWaiting(now)} offset 0
      ) pending ${pageOf(requested)}
    ) waiting
    where user_id = ${userId}
    order by ${inOrder} limit ${requested.count}`.execute(db)
  return rows
}

/** Counts the pending requests of each identity of a user that has any. */
export async function countWaitingForUser(db: Database, userId: UserId, now: Date) {
  const { rows } = await sql<{ identityId: IdentityId; count: number }>`
    select identity.identity_id as "identityId", count
    from identity cross join lateral (
      select count(*)::integer from signing_request
      where signing_request.identity_id = identity.identity_id and ${isWaiting(now)}
    ) waiting
    where user_id = ${userId} and count > 0
    order by identity.identity_id`.execute(db)
  return rows
}

type Members = { organizationIds: OrganizationId[]; identityIds: IdentityId[] }

/** Lists the requests to organizations that none of these members has answered yet. */
export async function listWaitingForMembers(db: Database, members: Members, requested: Requested, now: Date) {
  const families = sql`select * from token_family where organization_id = any(${members.organizationIds}::uuid[])`
  const { rows } = await sql<WaitingForOrganization>`
    select requested.organization_id as "organizationId", organization_name as "organizationName", ${columns}
    from ${requestedMembers(members)} cross join lateral (
      select * from (
        select request_id, client_id, organization_name, expires_at, payload, exists (
          select from ${readFirst(db, 'token_family', families)} token_family
          where token_family.organization_id = requested.organization_id
            and token_family.client_id = signing_organization_request.client_id
            and created_at <= ${requested.asOf} and expires_at > ${requested.asOf}
            and (revoked_at is null or revoked_at > ${requested.asOf})
        ) as is_connected
        from signing_organization_request where ${isUnanswered(db, members, now)} offset 0
      ) pending ${pageOf(requested)}
    ) waiting
    order by ${inOrder} limit ${requested.count}`.execute(db)
  return rows
}

/** Counts the requests to organizations that none of these members has answered yet. */
export async function countWaitingForMembers(db: Database, members: Members, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(count), 0)::integer as count
    from ${requestedMembers(members)} cross join lateral (
      select count(*) from signing_organization_request where ${isUnanswered(db, members, now)}
    ) waiting`.execute(db)
  return rows[0]?.count ?? 0
}

const requestedMembers = ({ organizationIds }: Members) =>
  sql`unnest(${organizationIds}::uuid[]) as requested (organization_id)`

function isUnanswered(db: Database, { organizationIds, identityIds }: Members, now: Date) {
  return sql`signing_organization_request.organization_id = requested.organization_id and ${isWaiting(now)}
    and not exists (
      select from signing_organization_signature
      where signing_organization_signature.organization_id = signing_organization_request.organization_id
        and signing_organization_signature.request_id = signing_organization_request.request_id
        and signing_organization_signature.identity_id = any(${identityIds}::uuid[])
        and ${organizationAnswerStore.isValidSignature(db, organizationIds)}
    )`
}

function isWaiting(now: Date) {
  return sql`status = 'pending' and expires_at > ${now}`
}

/** Returns the names of these apps; deleted apps are omitted. */
export async function readAppNames(db: Database, clientIds: ClientId[]): Promise<Map<string, string>> {
  if (clientIds.length === 0) return new Map()
  const apps = await db
    .selectFrom('app')
    .select(['client_id as clientId', 'name'])
    .where('client_id', 'in', clientIds)
    .execute()
  return new Map(apps.map(({ clientId, name }) => [clientId, name]))
}
