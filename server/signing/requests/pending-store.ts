import { sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'
import * as organizationAnswerStore from './organization-answer-store.ts'
import type { Asking } from './quota.ts'

/** What waits: of one app, or of those of its owner, and of all that are connected as it is, or are not. */
export type PendingCounts = { ofApp: string; firstOfApp: Date | null; ofAll: string; firstOfAll: Date | null }

/** The columns of that, of rows `pending` with `client_id` and `expires_at`. */
export function pendingCounts({ clientId, ownerUserId, isConnected }: Omit<Asking, 'signerId'>) {
  const isOfApp =
    isConnected || ownerUserId === null
      ? sql`client_id = ${clientId}`
      : sql`client_id in (select client_id from app where owner_user_id = ${ownerUserId})`
  return sql`count(*) filter (where ${isOfApp}) as "ofApp", min(expires_at) filter (where ${isOfApp}) as "firstOfApp",
    count(*) as "ofAll", min(expires_at) as "firstOfAll"`
}

/** How many wait, and when the first expires. */
export function readCounts([counts]: PendingCounts[], now: Date) {
  return {
    ofApp: { count: Number(counts?.ofApp ?? 0), firstExpiry: counts?.firstOfApp ?? now },
    ofAll: { count: Number(counts?.ofAll ?? 0), firstExpiry: counts?.firstOfAll ?? now },
  }
}

/**
 * Where a list goes on: after the request that expires then. Those of connected apps come before all others, so that
 * strangers push none of them off a page.
 */
export type Position = { isConnected: boolean; expiresAt: Date; requestId: string }

/**
 * A page of what waits. Apps are connected or not as of an instant: on the pages of one list that stays as it is, and
 * what is connected between two of them is left out of none.
 */
type Wanted = { after: Position; asOf: Date; count: number }

/** A request that waits, without its text, of which this is the size. */
export type Waiting = Position & { clientId: string; textBytes: number }
export type WaitingForIdentity = Waiting & { identityId: string; handle: string }
export type WaitingForOrganization = Waiting & { organizationId: string; organizationName: string }

const inOrder = sql`not is_connected, expires_at, request_id`
const pageOf = ({ after: { isConnected, expiresAt, requestId }, count }: Wanted) => sql`
  where (${inOrder}) > (${!isConnected}::boolean, ${expiresAt}::timestamptz, ${requestId}::uuid)
  order by ${inOrder} limit ${count}`

const columns = sql`request_id as "requestId", client_id as "clientId", expires_at as "expiresAt",
  text_bytes as "textBytes", is_connected as "isConnected"`

/**
 * The requests that wait for a person. By each identity for itself: joined with all that wait, they could be read all.
 */
export async function listWaitingForUser(db: Database, userId: string, wanted: Wanted, now: Date) {
  const { rows } = await sql<WaitingForIdentity>`
    select identity.identity_id as "identityId", handle, ${columns}
    from identity cross join lateral (
      select * from (
        select request_id, client_id, expires_at, octet_length(payload) as text_bytes, exists (
          select from authorization_consent consent
          where consent.identity_id = identity.identity_id and consent.client_id = signing_request.client_id
            and created_at <= ${wanted.asOf}
        ) as is_connected
        from signing_request where signing_request.identity_id = identity.identity_id and ${isWaiting(now)} offset 0
      ) pending ${pageOf(wanted)}
    ) waiting
    where user_id = ${userId}
    order by ${inOrder} limit ${wanted.count}`.execute(db)
  return rows
}

/** How many requests wait for each identity of a person for which any does. */
export async function countWaitingForUser(db: Database, userId: string, now: Date) {
  const { rows } = await sql<{ identityId: string; count: number }>`
    select identity.identity_id as "identityId", count
    from identity cross join lateral (
      select count(*)::integer from signing_request
      where signing_request.identity_id = identity.identity_id and ${isWaiting(now)}
    ) waiting
    where user_id = ${userId} and count > 0
    order by identity.identity_id`.execute(db)
  return rows
}

type Members = { organizationIds: string[]; identityIds: string[] }

/** The requests to organizations that none of these members has answered yet. */
export async function listWaitingForMembers(db: Database, members: Members, wanted: Wanted, now: Date) {
  const { rows } = await sql<WaitingForOrganization>`
    select asked.organization_id as "organizationId", organization_name as "organizationName", ${columns}
    from ${asked(members)} cross join lateral (
      select * from (
        select request_id, client_id, organization_name, expires_at, octet_length(payload) as text_bytes, exists (
          select from token_lineage
          where token_lineage.organization_id = asked.organization_id
            and token_lineage.client_id = signing_organization_request.client_id
            and created_at <= ${wanted.asOf} and ends_at > ${wanted.asOf}
            and (revoked_at is null or revoked_at > ${wanted.asOf})
        ) as is_connected
        from signing_organization_request where ${isUnanswered(members, now)} offset 0
      ) pending ${pageOf(wanted)}
    ) waiting
    order by ${inOrder} limit ${wanted.count}`.execute(db)
  return rows
}

/** How many requests to organizations none of these members has answered yet. */
export async function countWaitingForMembers(db: Database, members: Members, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(count), 0)::integer as count
    from ${asked(members)} cross join lateral (
      select count(*) from signing_organization_request where ${isUnanswered(members, now)}
    ) waiting`.execute(db)
  return rows[0]?.count ?? 0
}

const asked = ({ organizationIds }: Members) => sql`unnest(${organizationIds}::uuid[]) as asked (organization_id)`

function isUnanswered({ identityIds }: Members, now: Date) {
  return sql`signing_organization_request.organization_id = asked.organization_id and ${isWaiting(now)}
    and not exists (
      select from signing_organization_answer
      where signing_organization_answer.organization_id = signing_organization_request.organization_id
        and signing_organization_answer.request_id = signing_organization_request.request_id
        and signing_organization_answer.identity_id = any(${identityIds}::uuid[]) and ${organizationAnswerStore.stands}
    )`
}

function isWaiting(now: Date) {
  return sql`status = 'pending' and expires_at > ${now}`
}

/** What these apps are called; nothing of those that are gone. */
export async function readAppNames(db: Database, clientIds: string[]): Promise<Map<string, string>> {
  if (clientIds.length === 0) return new Map()
  const apps = await db
    .selectFrom('app')
    .select(['client_id as clientId', 'name'])
    .where('client_id', 'in', clientIds)
    .execute()
  return new Map(apps.map(({ clientId, name }) => [clientId, name]))
}
