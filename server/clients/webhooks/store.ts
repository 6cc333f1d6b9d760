import { sql, type Insertable, type Selectable } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Tables } from '#platform/database/tables.ts'
import type { Claimed } from './claim-store.ts'
import type { Delivery } from './delivery-store.ts'

const endpoint = ['url', 'disabled_at as disabledAt', 'created_at as createdAt', 'updated_at as updatedAt'] as const

export function findEndpoint(db: Database | Transaction, clientId: string) {
  return db.selectFrom('webhook_endpoint').select(endpoint).where('client_id', '=', clientId).executeTakeFirst()
}

/** Gives an app its first endpoint; nothing where it has one, or where there is no app. */
export function insertEndpoint(tx: Transaction, clientId: string, url: string, now: Date) {
  const at = sql<Date>`${now}::timestamptz`
  return tx
    .insertInto('webhook_endpoint')
    .columns(['client_id', 'url', 'created_at', 'updated_at'])
    .expression((eb) =>
      eb
        .selectFrom('app')
        .select(['client_id', eb.val(url).as('url'), at.as('created_at'), at.as('updated_at')])
        .where('client_id', '=', clientId)
        .forKeyShare(),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(endpoint)
    .executeTakeFirst()
}

/** Changes an endpoint, and makes it active; nothing where there is none. */
export function updateEndpoint(tx: Transaction, clientId: string, url: string, now: Date) {
  return tx
    .updateTable('webhook_endpoint')
    .set({ url, updated_at: now, disabled_at: null })
    .where('client_id', '=', clientId)
    .returning(endpoint)
    .executeTakeFirst()
}

/** An endpoint that nobody else changes until the transaction ends; false where there is none. */
export async function lockEndpoint(tx: Transaction, clientId: string): Promise<boolean> {
  const found = await tx
    .selectFrom('webhook_endpoint')
    .select('client_id')
    .where('client_id', '=', clientId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return found !== undefined
}

/** Disables an endpoint if it is still at this URL, and active, and answers whose app it is of; nothing otherwise. */
export function disableEndpoint(tx: Transaction, clientId: string, url: string, now: Date) {
  return tx
    .updateTable('webhook_endpoint')
    .from('app')
    .set({ disabled_at: now, updated_at: now })
    .whereRef('app.client_id', '=', 'webhook_endpoint.client_id')
    .where('webhook_endpoint.client_id', '=', clientId)
    .where('url', '=', url)
    .where('disabled_at', 'is', null)
    .returning('owner_user_id as ownerUserId')
    .executeTakeFirst()
}

/** Deletes an endpoint with its secrets and deliveries; false where there was none. */
export async function removeEndpoint(tx: Transaction, clientId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('webhook_endpoint')
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export async function insertSecret(tx: Transaction, secret: Insertable<Tables['webhook_secret']>): Promise<void> {
  await tx.insertInto('webhook_secret').values(secret).execute()
}

/** How many secrets of an endpoint sign at an instant. */
export async function countSecrets(tx: Transaction, clientId: string, now: Date): Promise<number> {
  const { count } = await tx
    .selectFrom('webhook_secret')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('client_id', '=', clientId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Lets the secrets of an endpoint end at an instant; those that end sooner do. */
export async function endSecrets(tx: Transaction, clientId: string, end: Date): Promise<void> {
  await tx
    .updateTable('webhook_secret')
    .set({ expires_at: end })
    .where('client_id', '=', clientId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', end)]))
    .execute()
}

/** Deletes the secrets that have ended. There are as few as apps, so all at once. */
export async function deleteEndedSecrets(db: Database | Transaction, now: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('webhook_secret')
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

export function listSecrets(db: Database) {
  return db
    .selectFrom('webhook_secret')
    .select(['client_id as clientId', 'secret_id as secretId', 'sealed_secret as sealedSecret'])
    .execute()
}

/** Puts a secret that was sealed anew in place of what it was. */
export async function replaceSealed(db: Database, secretId: string, before: string, after: string): Promise<void> {
  await db
    .updateTable('webhook_secret')
    .set({ sealed_secret: after })
    .where('secret_id', '=', secretId)
    .where('sealed_secret', '=', before)
    .execute()
}

export type NewDelivery = { clientId: string; deliveryId: string; type: string; payload: string }

/** Queues those deliveries whose app is active and has an active endpoint, and answers which those are. */
export async function insertDeliveries(tx: Transaction, deliveries: NewDelivery[], now: Date): Promise<string[]> {
  const clientIds = deliveries.map(({ clientId }) => clientId)
  const deliveryIds = deliveries.map(({ deliveryId }) => deliveryId)
  const types = deliveries.map(({ type }) => type)
  const payloads = deliveries.map(({ payload }) => payload)
  const { rows } = await sql<{ deliveryId: string }>`
    insert into webhook_delivery (client_id, delivery_id, type, payload, created_at, due_at)
    select client_id, delivery_id, type, payload, ${now}::timestamptz, ${now}::timestamptz
    from unnest(${clientIds}::text[], ${deliveryIds}::uuid[], ${types}::text[], ${payloads}::text[])
      as told (client_id, delivery_id, type, payload)
    join webhook_endpoint using (client_id) join app using (client_id)
    where disabled_at is null and app.status = 'active'
    returning delivery_id as "deliveryId"`.execute(tx)
  return rows.map(({ deliveryId }) => deliveryId)
}

export type Outcome = Pick<Selectable<Tables['webhook_attempt']>, 'at' | 'status' | 'reason'>
type Next = Pick<Selectable<Tables['webhook_delivery']>, 'state'> & { dueAt: Date | null }

/** Writes down how an attempt ended, and what comes next, unless another has taken it over, or it has ended. */
export async function settleAttempt(
  db: Database | Transaction,
  { clientId, deliveryId, attempt }: Claimed,
  { at, status, reason }: Outcome,
  { state, dueAt }: Next,
): Promise<void> {
  await sql`
    with settled as (
      update webhook_delivery set state = ${state}, due_at = ${dueAt}
      where client_id = ${clientId} and delivery_id = ${deliveryId} and attempts = ${attempt} and state = 'waiting'
      returning client_id, delivery_id, attempts
    )
    insert into webhook_attempt (client_id, delivery_id, attempt, at, status, reason)
    select client_id, delivery_id, attempts, ${at}::timestamptz, ${status}::integer, ${reason}::text
    from settled`.execute(db)
}

/** Gives back a delivery of which nobody knows whether it arrived: it is due, as if it had not been taken. */
export async function handBack(db: Database, { clientId, deliveryId, attempt }: Claimed, now: Date): Promise<void> {
  await db
    .updateTable('webhook_delivery')
    .set({ due_at: now, attempts: attempt - 1 })
    .where('client_id', '=', clientId)
    .where('delivery_id', '=', deliveryId)
    .where('attempts', '=', attempt)
    .where('state', '=', 'waiting')
    .execute()
}

/** Ends what an app still waits for. */
export async function failWaiting(tx: Transaction, clientId: string): Promise<void> {
  await tx
    .updateTable('webhook_delivery')
    .set({ state: 'failed', due_at: null })
    .where('client_id', '=', clientId)
    .where('state', '=', 'waiting')
    .execute()
}

/** Makes a delivery that has failed due again, if its app is active and has an active endpoint; nothing otherwise. */
export async function reviveDelivery(tx: Transaction, clientId: string, deliveryId: string, now: Date) {
  const { rows } = await sql<Delivery>`
    update webhook_delivery delivery set state = 'waiting', due_at = ${now}
    from webhook_endpoint endpoint join app using (client_id)
    where delivery.client_id = ${clientId} and delivery_id = ${deliveryId} and state = 'failed'
      and endpoint.client_id = delivery.client_id and disabled_at is null and app.status = 'active'
    returning delivery_id as "deliveryId", type, state, delivery.created_at as "createdAt", due_at as "dueAt"`.execute(
    tx,
  )
  return rows[0]
}

/** How far a delivery is; undefined where there is none. */
export async function findState(tx: Transaction, clientId: string, deliveryId: string) {
  const found = await tx
    .selectFrom('webhook_delivery')
    .select('state')
    .where('client_id', '=', clientId)
    .where('delivery_id', '=', deliveryId)
    .executeTakeFirst()
  return found?.state
}

/** Deletes deliveries of before an instant, with their attempts. */
export async function deleteDeliveries(db: Database, before: Date, batch: number): Promise<number> {
  const old = db
    .selectFrom('webhook_delivery')
    .select(['client_id', 'delivery_id'])
    .where('created_at', '<=', before)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('webhook_delivery')
    .where(({ eb, refTuple }) =>
      eb(refTuple('client_id', 'delivery_id'), 'in', old.$asTuple('client_id', 'delivery_id')),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
