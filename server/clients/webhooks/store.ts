import type { Database, Transaction } from '#platform/database/database.ts'
import { type Insertable, type Selectable, sql } from 'kysely'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import type { Tables } from '#platform/database/tables.ts'
import type { ClaimedDelivery } from './claim-store.ts'

/**
 * Lists the newest deliveries of an app, of all or older than `before`: a row for every attempt in order, or one row
 * without an attempt. It is one statement, so that attempts and their outcome are read together.
 */
export function listDeliveries(db: Database, clientId: ClientId, before: string | undefined, count: number) {
  const newest = db
    .selectFrom('webhook_delivery')
    .select(['client_id', 'delivery_id', 'type', 'state', 'created_at', 'next_attempt_at'])
    .where('client_id', '=', clientId)
    .orderBy('delivery_id', 'desc')
    .limit(count)
  const page = before === undefined ? newest : newest.where('delivery_id', '<', before)
  return db
    .selectFrom(page.as('delivery'))
    .leftJoin('webhook_attempt as attempt', (join) =>
      join
        .onRef('attempt.client_id', '=', 'delivery.client_id')
        .onRef('attempt.delivery_id', '=', 'delivery.delivery_id'),
    )
    .select([
      'delivery.delivery_id as deliveryId',
      'type',
      'state',
      'created_at as createdAt',
      'next_attempt_at as nextAttemptAt',
    ])
    .select(['attempt.attempted_at as at', 'attempt.response_status as status', 'attempt.reason'])
    .orderBy('delivery.delivery_id', 'desc')
    .orderBy('attempt.attempt')
    .execute()
}

export type Delivery = Pick<
  Awaited<ReturnType<typeof listDeliveries>>[number],
  'deliveryId' | 'type' | 'state' | 'createdAt' | 'nextAttemptAt'
>

/** Lists the attempts of a delivery in order. */
export function listAttempts(db: Database | Transaction, clientId: ClientId, deliveryId: string) {
  return db
    .selectFrom('webhook_attempt')
    .select(['attempted_at as at', 'response_status as status', 'reason'])
    .where('client_id', '=', clientId)
    .where('delivery_id', '=', deliveryId)
    .orderBy('attempt')
    .execute()
}

const endpoint = ['url', 'disabled_at as disabledAt', 'created_at as createdAt', 'updated_at as updatedAt'] as const

export function findEndpoint(db: Database | Transaction, clientId: ClientId) {
  return db.selectFrom('webhook_endpoint').select(endpoint).where('client_id', '=', clientId).executeTakeFirst()
}

/** Inserts the first endpoint of an app. Returns undefined if the app has one or does not exist. */
export function insertEndpoint(tx: Transaction, clientId: ClientId, url: string, now: Date) {
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

/** Updates an endpoint and activates it. Returns undefined if there is none. */
export function updateEndpoint(tx: Transaction, clientId: ClientId, url: string, now: Date) {
  return tx
    .updateTable('webhook_endpoint')
    .set({ url, updated_at: now, disabled_at: null })
    .where('client_id', '=', clientId)
    .returning(endpoint)
    .executeTakeFirst()
}

/** Locks an endpoint until the transaction ends. Returns false if there is none. */
export async function lockEndpoint(tx: Transaction, clientId: ClientId): Promise<boolean> {
  const found = await tx
    .selectFrom('webhook_endpoint')
    .select('client_id')
    .where('client_id', '=', clientId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return found !== undefined
}

/** Disables an active endpoint that still has this URL. Returns the owner of its app, or undefined. */
export function disableEndpoint(tx: Transaction, clientId: ClientId, url: string, now: Date) {
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

/** Deletes an endpoint with its secrets and deliveries. Returns false if there was none. */
export async function deleteEndpoint(tx: Transaction, clientId: ClientId): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('webhook_endpoint')
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export async function insertSecret(tx: Transaction, secret: Insertable<Tables['webhook_secret']>): Promise<void> {
  await tx.insertInto('webhook_secret').values(secret).execute()
}

/** Counts the secrets of an endpoint that are active at an instant. */
export async function countSecrets(tx: Transaction, clientId: ClientId, now: Date): Promise<number> {
  const { count } = await tx
    .selectFrom('webhook_secret')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('client_id', '=', clientId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Sets the expiry of an endpoint's secrets, except those that expire sooner. */
export async function endSecrets(tx: Transaction, clientId: ClientId, end: Date): Promise<void> {
  await tx
    .updateTable('webhook_secret')
    .set({ expires_at: end })
    .where('client_id', '=', clientId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', end)]))
    .execute()
}

/** Deletes expired secrets, all at once, because there are no more than apps. */
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

/** Replaces a sealed secret by its re-encrypted form. */
export async function replaceSealed(db: Database, secretId: string, before: string, after: string): Promise<void> {
  await db
    .updateTable('webhook_secret')
    .set({ sealed_secret: after })
    .where('secret_id', '=', secretId)
    .where('sealed_secret', '=', before)
    .execute()
}

export type NewDelivery = { clientId: ClientId; deliveryId: string; type: string; payload: string }

/** Queues the deliveries of active apps with an active endpoint. Returns their IDs. */
export async function insertDeliveries(tx: Transaction, deliveries: NewDelivery[], now: Date): Promise<string[]> {
  const clientIds = deliveries.map(({ clientId }) => clientId)
  const deliveryIds = deliveries.map(({ deliveryId }) => deliveryId)
  const types = deliveries.map(({ type }) => type)
  const payloads = deliveries.map(({ payload }) => payload)
  const { rows } = await sql<{ deliveryId: string }>`
    insert into webhook_delivery (client_id, delivery_id, type, payload, created_at, next_attempt_at)
    select client_id, delivery_id, type, payload, ${now}::timestamptz, ${now}::timestamptz
    from unnest(${clientIds}::text[], ${deliveryIds}::uuid[], ${types}::text[], ${payloads}::text[])
      as event (client_id, delivery_id, type, payload)
    join webhook_endpoint using (client_id) join app using (client_id)
    where disabled_at is null and app.status = 'active'
    returning delivery_id as "deliveryId"`.execute(tx)
  return rows.map(({ deliveryId }) => deliveryId)
}

type NewPart = { clientId: ClientId; deliveryId: string; identityId: IdentityId; path: string[]; value: string }

/** Inserts parts of queued deliveries. */
export async function insertParts(tx: Transaction, parts: NewPart[]): Promise<void> {
  await tx
    .insertInto('webhook_delivery_part')
    .values(
      parts.map(({ clientId, deliveryId, identityId, path, value }) => ({
        ...{ client_id: clientId, delivery_id: deliveryId, identity_id: identityId, path, value },
      })),
    )
    .execute()
}

/** Deletes the parts of identities in all deliveries. */
export async function deletePartsOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('webhook_delivery_part').where('identity_id', 'in', identityIds).execute()
}

export type Outcome = { at: Date; status: number | null; reason: string | null }
type Next = Pick<Selectable<Tables['webhook_delivery']>, 'state'> & { nextAttemptAt: Date | null }

/**
 * Records the outcome of an attempt and the next step, unless another attempt has taken over or the delivery has ended.
 * The content of a delivered event is deleted.
 */
export async function recordAttempt(
  db: Database | Transaction,
  { clientId, deliveryId, attempt }: ClaimedDelivery,
  { at, status, reason }: Outcome,
  { state, nextAttemptAt }: Next,
): Promise<void> {
  await sql`
    with settled as (
      update webhook_delivery set state = ${state}, next_attempt_at = ${nextAttemptAt},
        payload = case when ${state} = 'delivered' then null else payload end
      where client_id = ${clientId} and delivery_id = ${deliveryId} and attempts = ${attempt} and state = 'pending'
      returning client_id, delivery_id, attempts, state
    ), sent_part as (
      delete from webhook_delivery_part part using settled
      where part.client_id = settled.client_id and part.delivery_id = settled.delivery_id and state = 'delivered'
    )
    insert into webhook_attempt (client_id, delivery_id, attempt, attempted_at, response_status, reason)
    select client_id, delivery_id, attempts, ${at}::timestamptz, ${status}::integer, ${reason}::text
    from settled`.execute(db)
}

/** Releases a delivery that may have arrived. It is due again as if it had not been claimed. */
export async function releaseDelivery(
  db: Database,
  { clientId, deliveryId, attempt }: ClaimedDelivery,
  now: Date,
): Promise<void> {
  await db
    .updateTable('webhook_delivery')
    .set({ next_attempt_at: now, attempts: attempt - 1 })
    .where('client_id', '=', clientId)
    .where('delivery_id', '=', deliveryId)
    .where('attempts', '=', attempt)
    .where('state', '=', 'pending')
    .execute()
}

/** Marks the pending deliveries of an app as failed. */
export async function failPendingDeliveries(tx: Transaction, clientId: ClientId): Promise<void> {
  await tx
    .updateTable('webhook_delivery')
    .set({ state: 'failed', next_attempt_at: null })
    .where('client_id', '=', clientId)
    .where('state', '=', 'pending')
    .execute()
}

/** Requeues a failed delivery if its app is active and has an active endpoint. Otherwise returns undefined. */
export async function requeueDelivery(tx: Transaction, clientId: ClientId, deliveryId: string, now: Date) {
  const { rows } = await sql<Delivery>`
    update webhook_delivery delivery set state = 'pending', next_attempt_at = ${now}
    from webhook_endpoint endpoint join app using (client_id)
    where delivery.client_id = ${clientId} and delivery_id = ${deliveryId} and state = 'failed'
      and endpoint.client_id = delivery.client_id and disabled_at is null and app.status = 'active'
    returning delivery_id as "deliveryId", type, state, delivery.created_at as "createdAt",
      next_attempt_at as "nextAttemptAt"`.execute(tx)
  return rows[0]
}

/** Returns the state of a delivery, or undefined if there is none. */
export async function findState(tx: Transaction, clientId: ClientId, deliveryId: string) {
  const found = await tx
    .selectFrom('webhook_delivery')
    .select('state')
    .where('client_id', '=', clientId)
    .where('delivery_id', '=', deliveryId)
    .executeTakeFirst()
  return found?.state
}

/** Deletes deliveries from before an instant, with their attempts. */
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
