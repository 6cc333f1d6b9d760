import { sql } from 'kysely'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'

/** Place of a consent in the order of identities and apps. */
export type ConsentPosition = { identityId: IdentityId; clientId: ClientId }

/** A deleted app, with the last consent that was examined for it, if any was. */
export type EndedApp = {
  clientId: ClientId
  lastIdentityId: IdentityId | null
  lastClientId: ClientId | null
}

/** Records that apps were deleted. If one was deleted before and declared again, it counts from now on. */
export async function insertEnded(tx: Transaction, clientIds: ClientId[], endedAt: Date): Promise<void> {
  if (clientIds.length === 0) return
  await tx
    .insertInto('app_ending')
    .values(clientIds.map((clientId) => ({ client_id: clientId, ended_at: endedAt })))
    .onConflict((conflict) =>
      conflict.column('client_id').doUpdateSet({ ended_at: endedAt, last_identity_id: null, last_client_id: null }),
    )
    .execute()
}

const endedAtOnce = 100

/** Locks the apps that were deleted first, of those deleted before an instant, until the transaction ends. */
export async function lockEnded(tx: Transaction, endedBefore: Date): Promise<EndedApp[]> {
  const { rows } = await sql<EndedApp>`
    update app_ending set ended_at = ended_at
    where ended_at <= ${endedBefore} and client_id = any(array(
      select client_id from app_ending where ended_at <= ${endedBefore}
      order by ended_at, client_id limit ${sql.lit(endedAtOnce)}
    ))
    returning client_id as "clientId", last_identity_id as "lastIdentityId", last_client_id as "lastClientId"`.execute(
    tx,
  )
  return rows
}

/** Lists those of these client IDs that apps have. */
export async function listPresent(tx: Transaction, clientIds: ClientId[]): Promise<ClientId[]> {
  const apps = await tx.selectFrom('app').select('client_id').where('client_id', 'in', clientIds).execute()
  return apps.map((app) => app.client_id)
}

export async function setPosition(tx: Transaction, clientIds: ClientId[], last: ConsentPosition): Promise<void> {
  await tx
    .updateTable('app_ending')
    .set({ last_identity_id: last.identityId, last_client_id: last.clientId })
    .where('client_id', 'in', clientIds)
    .execute()
}

export async function deleteEnded(tx: Transaction, clientIds: ClientId[]): Promise<void> {
  if (clientIds.length > 0) await tx.deleteFrom('app_ending').where('client_id', 'in', clientIds).execute()
}
