import { isDeepStrictEqual } from 'node:util'
import type { UserId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'

/** Returns the audit events of a user, newest first, or those of one action. The admin API does not name users. */
export function auditEventsOf(db: Database, userId: UserId, action?: string) {
  return db
    .selectFrom('audit_event')
    .select(['action', 'actor', 'identity_id as identityId', 'client_id as clientId'])
    .select(({ ref }) => ref('details').$castTo<Record<string, unknown>>().as('details'))
    .where('user_id', '=', userId)
    .$if(action !== undefined, (one) => one.where('action', '=', action ?? ''))
    .orderBy('event_id', 'desc')
    .execute()
}

/** Audit event as a test names it, without the fields that it does not have. */
export type NamedEvent = {
  action: string
  actor: string
  operator?: Record<string, string>
  userId?: string
  identityId?: string
  clientId?: string
  organizationId?: string
  details?: unknown
}

/** Runs an act. Returns the audit events that it leaves, oldest first. */
export async function auditEventsBy(db: Database, act: () => Promise<unknown>): Promise<NamedEvent[]> {
  const before = new Set((await readAuditEvents(db)).map(({ event_id: id }) => id))
  await act()
  return (await readAuditEvents(db)).filter(({ event_id: id }) => !before.has(id)).map(toNamedEvent)
}

function readAuditEvents(db: Database) {
  return db.selectFrom('audit_event').selectAll().orderBy('event_id').execute()
}

function toNamedEvent(row: Awaited<ReturnType<typeof readAuditEvents>>[number]): NamedEvent {
  const { action, actor, details, operator_kind: kind, operator_id: id, operator_name: name } = row
  const given = { userId: row.user_id, identityId: row.identity_id, clientId: row.client_id }
  return {
    ...{ action, actor },
    ...(kind && { operator: withoutNull({ kind, id, name }) }),
    ...withoutNull({ ...given, organizationId: row.organization_id }),
    ...(!isDeepStrictEqual(details, {}) && { details }),
  }
}

function withoutNull(fields: Record<string, string | null>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => field[1] !== null))
}
