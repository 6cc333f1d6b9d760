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
