import { sql } from 'kysely'
import type { ClientId, IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { SigningStatus } from '@countersign/protocol/signing/signing'
import type { Database } from '#platform/database/database.ts'
import { beginningCharacters } from '#signing/requests/text-title.ts'

/** Position in the documents of an organization. */
export type Position = { createdAt: Date; requestId: string }
/** Which documents: all, those that wait for members at that time, or those that are signed. */
export type DocumentState = 'waiting' | 'signed' | 'all'

export type StoredDocument = Position & {
  clientId: ClientId
  appName: string | null
  appNameThen: string | null
  appIconUrl: string | null
  /** The beginning of the text. */
  beginning: string
  approvalsNeeded: number
  status: SigningStatus
  expiresAt: Date
  resolvedAt: Date | null
}

type Requested = { before: Position | undefined; count: number; state: DocumentState }

/** Lists the newest requests to an organization, optionally before a position. */
export async function listDocuments(
  db: Database,
  organizationId: OrganizationId,
  { before, count, state }: Requested,
  now: Date,
): Promise<StoredDocument[]> {
  const states = {
    waiting: isWaiting(now),
    signed: sql`signing_organization_request.status = 'signed'`,
    all: sql.lit(true),
  }
  const isBefore = before
    ? sql`(created_at, request_id) < (${before.createdAt}::timestamptz, ${before.requestId}::uuid)`
    : sql.lit(true)
  const { rows } = await sql<StoredDocument>`
    select document.*, app.name as "appName", app.icon_url as "appIconUrl"
    from (
      select request_id as "requestId", client_id as "clientId", app_name as "appNameThen",
        left(payload, ${beginningCharacters}) as beginning, approvals_needed as "approvalsNeeded", status,
        created_at as "createdAt", expires_at as "expiresAt", resolved_at as "resolvedAt"
      from signing_organization_request
      where organization_id = ${organizationId} and ${states[state]} and ${isBefore}
      order by created_at desc, request_id desc limit ${count}
    ) document left join app on app.client_id = document."clientId"
    order by "createdAt" desc, "requestId" desc`.execute(db)
  return rows
}

/** Counts the requests that wait for members of an organization. */
export async function countWaiting(db: Database, organizationId: OrganizationId, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer from signing_organization_request
    where organization_id = ${organizationId} and ${isWaiting(now)}`.execute(db)
  return rows[0]?.count ?? 0
}

function isWaiting(now: Date) {
  return sql`signing_organization_request.status = 'pending' and expires_at > ${now}`
}

/** Returns the present display names of these identities by their IDs; deleted ones are omitted. */
export async function readDisplayNames(db: Database, identityIds: IdentityId[]): Promise<Map<IdentityId, string>> {
  if (identityIds.length === 0) return new Map()
  const found = await db
    .selectFrom('identity')
    .select(['identity_id as identityId', 'display_name as displayName'])
    .where('identity_id', 'in', identityIds)
    .execute()
  return new Map(found.map(({ identityId, displayName }) => [identityId, displayName]))
}
