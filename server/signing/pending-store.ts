import { sql } from 'kysely'
import type { Database } from '#kernel/database.ts'
import { stands } from './organization-answer-store.ts'
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

/** Where a list goes on: after the request that expires then. */
export type Position = { expiresAt: Date; requestId: string }
type Wanted = { after: Position; count: number }

/** A request that waits, without its text, of which this is the size. */
export type Waiting = Position & { textBytes: number }
export type WaitingForIdentity = Waiting & { identityId: string }
export type WaitingForOrganization = Waiting & { organizationId: string }

/**
 * The requests that wait for a person, the first that expires first. By each identity for itself: joined with all that
 * wait, they could be read all.
 */
export async function listWaitingForUser(db: Database, userId: string, { after, count }: Wanted, now: Date) {
  const { rows } = await sql<WaitingForIdentity>`
    select identity.identity_id as "identityId", request_id as "requestId", expires_at as "expiresAt",
      text_bytes as "textBytes"
    from identity cross join lateral (
      select request_id, expires_at, octet_length(payload) as text_bytes from signing_request
      where signing_request.identity_id = identity.identity_id and ${isWaiting(after, now)}
      order by expires_at, request_id limit ${count}
    ) waiting
    where user_id = ${userId}
    order by expires_at, request_id limit ${count}`.execute(db)
  return rows
}

type Members = { organizationIds: string[]; identityIds: string[] }

/** The requests to organizations that none of these members has answered yet, the first that expires first. */
export async function listWaitingForMembers(
  db: Database,
  { organizationIds, identityIds }: Members,
  { after, count }: Wanted,
  now: Date,
) {
  const { rows } = await sql<WaitingForOrganization>`
    select asked.organization_id as "organizationId", request_id as "requestId", expires_at as "expiresAt",
      text_bytes as "textBytes"
    from unnest(${organizationIds}::uuid[]) as asked (organization_id) cross join lateral (
      select request_id, expires_at, octet_length(payload) as text_bytes from signing_organization_request
      where signing_organization_request.organization_id = asked.organization_id and ${isWaiting(after, now)}
        and not exists (
          select from signing_organization_answer
          where signing_organization_answer.organization_id = signing_organization_request.organization_id
            and signing_organization_answer.request_id = signing_organization_request.request_id
            and signing_organization_answer.identity_id = any(${identityIds}::uuid[]) and ${stands}
        )
      order by expires_at, request_id limit ${count}
    ) waiting
    order by expires_at, request_id limit ${count}`.execute(db)
  return rows
}

function isWaiting({ expiresAt, requestId }: Position, now: Date) {
  return sql`status = 'pending' and expires_at > ${now}
    and (expires_at, request_id) > (${expiresAt}::timestamptz, ${requestId}::uuid)`
}
