import { sql } from 'kysely'
import type { UserId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'
import { selectSessions, type SessionsOf } from '#accounts/sessions/ending.ts'
import * as organizationStore from './organization-store.ts'
import { revokeWhere } from './store.ts'

/** Revokes token families of sessions whose code was not redeemed. The transaction holds the lock of the sessions. */
export async function revokeUnredeemedCodes(tx: Transaction, of: SessionsOf, now: Date): Promise<void> {
  await revokeWhere(tx, sql`${givenIn(tx, of)} and code_redeemed_at is null`, now)
}

/**
 * Builds the condition for token families that were created in sessions, from the families' own columns where possible.
 * Families of a session that only SSO opened are for that organization.
 */
function givenIn(tx: Transaction, of: SessionsOf) {
  if ('organizationId' in of) {
    const { connectionId } = of
    return sql<boolean>`${organizationStore.ofOrganization(of)} and authenticated_by_passkey is not true
      ${connectionId === undefined ? sql`` : sql`and sso_connection_id = ${connectionId}`}`
  }
  // These identities are of the user. With those of the user as a condition too, a cluster would read all shards.
  if (of.which === 'of identities')
    return sql<boolean>`identity_id = any(${of.identityIds}::uuid[])
      and (authenticated_by_passkey is not true or session_id in ${selectSessions(tx, of)})`
  const own = tx.selectFrom('identity').select('identity.identity_id').where('identity.user_id', '=', of.userId)
  return sql<boolean>`identity_id = any(array${own}) and ${ofSession(tx, of)}`
}

function ofSession(tx: Transaction, of: Exclude<Extract<SessionsOf, { userId: UserId }>, { which: 'of identities' }>) {
  switch (of.which) {
    case 'all':
      return sql`session_id is distinct from ${of.kept ?? null}`
    case 'one':
      return sql`session_id = ${of.sessionId}`
    case 'of passkey':
    case 'of recovered passkey':
    case 'beyond':
      return sql`session_id in ${selectSessions(tx, of)}`
  }
}
