import { sql } from 'kysely'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'
import { lockUnlocked } from '#platform/database/distributed/engine.ts'

/** A connection that has ended, with sessions that are left. */
export type ConnectionEnding = { connectionId: string; organizationId: OrganizationId }

/** Notes that sessions are left which a connection opened that has ended. */
export async function insertEnding(tx: Transaction, { connectionId, organizationId }: ConnectionEnding): Promise<void> {
  await tx
    .insertInto('sso_connection_ending')
    .values({ connection_id: connectionId, organization_id: organizationId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/**
 * Finds an ending that no other process is working on, of an organization that is not ending itself: what its ending
 * does includes this one.
 */
export async function findEnding(tx: Transaction): Promise<ConnectionEnding | undefined> {
  const { rows } = await sql<ConnectionEnding>`
    select connection_id as "connectionId", organization_id as "organizationId" from sso_connection_ending
    where not exists (
      select from organization_ending
      where organization_ending.organization_id = sso_connection_ending.organization_id
    )
    limit ${sql.lit(1)} ${lockUnlocked(tx, 'sso_connection_ending')}`.execute(tx)
  return rows[0]
}

/** Locks an ending. Returns undefined if nothing is left. */
export function lockEnding(tx: Transaction, connectionId: string): Promise<ConnectionEnding | undefined> {
  return tx
    .updateTable('sso_connection_ending')
    .set(({ ref }) => ({ organization_id: ref('organization_id') }))
    .where('connection_id', '=', connectionId)
    .returning(['connection_id as connectionId', 'organization_id as organizationId'])
    .executeTakeFirst()
}

export async function deleteEnding(tx: Transaction, connectionId: string): Promise<void> {
  await tx.deleteFrom('sso_connection_ending').where('connection_id', '=', connectionId).execute()
}

export async function isEnding(tx: Transaction, connectionId: string): Promise<boolean> {
  const ending = tx.selectFrom('sso_connection_ending').select('connection_id')
  return (await ending.where('connection_id', '=', connectionId).executeTakeFirst()) !== undefined
}
