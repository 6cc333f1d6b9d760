import type { Database, Transaction } from '#platform/database/database.ts'
import { replicaOf } from '#platform/database/distributed/engine.ts'
import { randomUUIDv7 } from 'node:crypto'
import { isSealedOtherwise } from '#platform/database/sealed.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import { type Insertable, type Selectable, sql } from 'kysely'
import type { ClientId, IdentityId, UserId } from '@countersign/protocol/ids'
import type { Tables } from '#platform/database/tables.ts'
import type { ClaimedDelivery } from './claim-store.ts'

/**
 * Lists the newest deliveries to a receiver, of all or older than `before`: a row for every attempt in order, or one
 * row without an attempt. It is one statement, so that attempts and their outcome are read together.
 */
export function listDeliveries(db: Database, receiverId: string, before: string | undefined, count: number) {
  const newest = db
    .selectFrom('webhook_delivery')
    .select(['receiver_id', 'delivery_id', 'type', 'state', 'created_at', 'next_attempt_at'])
    .where('receiver_id', '=', receiverId)
    .orderBy('delivery_id', 'desc')
    .limit(count)
  const page = before === undefined ? newest : newest.where('delivery_id', '<', before)
  return db
    .selectFrom(page.as('delivery'))
    .leftJoinLateral(
      ({ selectFrom }) =>
        selectFrom('webhook_attempt')
          .select(['attempt', 'attempted_at', 'response_status', 'reason'])
          .whereRef('webhook_attempt.receiver_id', '=', 'delivery.receiver_id')
          .whereRef('webhook_attempt.delivery_id', '=', 'delivery.delivery_id')
          .offset(0)
          .as('attempt'),
      (join) => join.onTrue(),
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
export function listAttempts(db: Database | Transaction, receiverId: string, deliveryId: string) {
  return db
    .selectFrom('webhook_attempt')
    .select(['attempted_at as at', 'response_status as status', 'reason'])
    .where('receiver_id', '=', receiverId)
    .where('delivery_id', '=', deliveryId)
    .orderBy('attempt')
    .execute()
}

const endpoint = [
  'receiver_id as receiverId',
  'url',
  'disabled_at as disabledAt',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

export function findEndpoint(db: Database | Transaction, clientId: ClientId) {
  return db.selectFrom('webhook_endpoint').select(endpoint).where('client_id', '=', clientId).executeTakeFirst()
}

/** Number of deliveries to a former endpoint that a new one deletes: no more than a request may change. */
const deletedAtOnce = 1000

/**
 * Inserts the first endpoint of an app. Returns undefined if the app has one or does not exist. If many deliveries to a
 * former endpoint are left, they keep the ID of that one until they are deleted, and the new one gets another.
 */
export async function insertEndpoint(tx: Transaction, clientId: ClientId, url: string, now: Date) {
  const app = tx.selectFrom('app').select('client_id').where('client_id', '=', clientId)
  if (!(await app.forNoKeyUpdate().executeTakeFirst())) return undefined
  // The lock keeps others from inserting and removing an endpoint meanwhile.
  if (await findEndpoint(tx, clientId)) return undefined
  const former = tx.selectFrom('webhook_delivery').select('delivery_id').where('receiver_id', '=', clientId)
  await tx
    .deleteFrom('webhook_delivery')
    .where('receiver_id', '=', clientId)
    .where('delivery_id', 'in', former.limit(deletedAtOnce))
    .execute()
  const isFresh = (await former.limit(1).executeTakeFirst()) === undefined
  const receiverId = isFresh ? clientId : `${clientId}:${randomUUIDv7()}`
  return tx
    .insertInto('webhook_endpoint')
    .values({ receiver_id: receiverId, client_id: clientId, url, created_at: now, updated_at: now })
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

/** Locks an endpoint until the transaction ends. Returns undefined if there is none. */
export function lockEndpoint(tx: Transaction, receiverId: string) {
  return tx
    .selectFrom('webhook_endpoint')
    .select(['url', 'disabled_at as disabledAt'])
    .where('receiver_id', '=', receiverId)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

type Disabled = { clientId: ClientId | null; ownerUserId: UserId | null }

/** Disables an active endpoint that still has this URL. Returns its app, if it has one, and the owner, or undefined. */
export async function disableEndpoint(tx: Transaction, receiverId: string, url: string, now: Date) {
  const { rows } = await sql<Disabled>`
    update webhook_endpoint endpoint set disabled_at = ${now}, updated_at = ${now}
    where receiver_id = ${receiverId} and url = ${url} and disabled_at is null
    returning client_id as "clientId",
      (select owner_user_id from app where app.client_id = endpoint.client_id) as "ownerUserId"`.execute(tx)
  return rows[0]
}

/** Deletes an endpoint with its secrets. Cleanup deletes its deliveries. Returns false if there was none. */
export async function deleteEndpoint(tx: Transaction, receiverId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('webhook_endpoint')
    .where('receiver_id', '=', receiverId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export async function insertSecret(tx: Transaction, secret: Insertable<Tables['webhook_secret']>): Promise<void> {
  await tx.insertInto('webhook_secret').values(secret).execute()
}

/** Counts the secrets of an endpoint that are active at an instant. */
export async function countSecrets(tx: Transaction, receiverId: string, now: Date): Promise<number> {
  const { count } = await tx
    .selectFrom('webhook_secret')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('receiver_id', '=', receiverId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Sets the expiry of an endpoint's secrets, except those that expire sooner. */
export async function endSecrets(tx: Transaction, receiverId: string, end: Date): Promise<void> {
  await tx
    .updateTable('webhook_secret')
    .set({ expires_at: end })
    .where('receiver_id', '=', receiverId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', end)]))
    .execute()
}

/** Finds the secret of an app's webhook that does not expire. */
export function findCurrentSecret(db: Database | Transaction, clientId: ClientId) {
  return db
    .selectFrom('webhook_secret')
    .innerJoin('webhook_endpoint', 'webhook_endpoint.receiver_id', 'webhook_secret.receiver_id')
    .select(['webhook_secret.receiver_id as receiverId', 'sealed_secret as sealedSecret'])
    .where('client_id', '=', clientId)
    .where('expires_at', 'is', null)
    .executeTakeFirst()
}

/** Lists the secrets that are not sealed under the current root key. */
export function listSecrets(db: Database, keyring: Keyring) {
  return db
    .selectFrom('webhook_secret')
    .select(['receiver_id as receiverId', 'secret_id as secretId', 'sealed_secret as sealedSecret'])
    .where(isSealedOtherwise('sealed_secret', keyring))
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

/** A delivery to the webhook of an app, or to that of the service with an ID. */
export type NewDelivery = { to: string; deliveryId: string; type: string; payload: string }
export type Queued = { receiverId: string; deliveryId: string }

/**
 * Queues the deliveries to active endpoints, as far as their apps are active. Returns them. Until the transaction ends,
 * no endpoint of them can be disabled: their pending deliveries fail then.
 */
export async function insertDeliveries(tx: Transaction, deliveries: NewDelivery[], now: Date): Promise<Queued[]> {
  const addressees = deliveries.map(({ to }) => to)
  const deliveryIds = deliveries.map(({ deliveryId }) => deliveryId)
  const types = deliveries.map(({ type }) => type)
  const payloads = deliveries.map(({ payload }) => payload)
  const endpoints = replicaOf(tx, 'webhook_endpoint')
  const { rows } = await sql<Queued>`
    insert into webhook_delivery (receiver_id, delivery_id, type, payload, created_at, next_attempt_at)
    select receiver_id, delivery_id, type, payload, ${now}::timestamptz, ${now}::timestamptz
    from (
      select coalesce((select receiver_id from ${endpoints} where client_id = addressee), addressee) as receiver_id,
        delivery_id, type, payload
      -- The subquery hides how many there are: PostgreSQL would otherwise plan each execution for that number.
      from unnest((select ${addressees}::text[]), ${deliveryIds}::uuid[], ${types}::text[], ${payloads}::text[])
        as named (addressee, delivery_id, type, payload)
      offset 0
    ) event
    join ${endpoints} using (receiver_id)
    left join ${replicaOf(tx, 'app')} using (client_id)
    where disabled_at is null and coalesce(app.status, 'active') = 'active'
    for share of webhook_endpoint
    returning receiver_id as "receiverId", delivery_id as "deliveryId"`.execute(tx)
  return rows
}

type NewPart = { receiverId: string; deliveryId: string; identityId: IdentityId; path: string[]; value: string }

/** Inserts parts of queued deliveries. */
export async function insertParts(tx: Transaction, parts: NewPart[]): Promise<void> {
  await tx
    .insertInto('webhook_delivery_part')
    .values(
      parts.map(({ receiverId, deliveryId, identityId, path, value }) => ({
        ...{ receiver_id: receiverId, delivery_id: deliveryId, identity_id: identityId, path, value },
      })),
    )
    .execute()
}

/** Deletes the parts of identities in all deliveries. */
export async function deletePartsOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('webhook_delivery_part').where('identity_id', 'in', identityIds).execute()
}

export type Outcome = { at: Date; status: number | null; reason: string | null }
export type Next = Pick<Selectable<Tables['webhook_delivery']>, 'state'> & { nextAttemptAt: Date | null }

/**
 * Records the outcome of an attempt and the next step, unless another attempt has taken over or the delivery has ended.
 * The content of a delivered event is deleted.
 */
export async function recordAttempt(
  db: Database | Transaction,
  { receiverId, deliveryId, attempt }: ClaimedDelivery,
  { at, status, reason }: Outcome,
  { state, nextAttemptAt }: Next,
): Promise<void> {
  await sql`
    with settled as (
      update webhook_delivery set state = ${state}, next_attempt_at = ${nextAttemptAt},
        payload = case when ${state} = 'delivered' then null else payload end
      where receiver_id = ${receiverId} and delivery_id = ${deliveryId} and attempts = ${attempt} and state = 'pending'
      returning receiver_id, delivery_id, attempts, state
    ), sent_part as (
      delete from webhook_delivery_part part using settled
      where part.receiver_id = settled.receiver_id and part.delivery_id = settled.delivery_id and state = 'delivered'
    )
    insert into webhook_attempt (receiver_id, delivery_id, attempt, attempted_at, response_status, reason)
    select receiver_id, delivery_id, attempts, ${at}::timestamptz, ${status}::integer, ${reason}::text
    from settled`.execute(db)
}

/** Releases a delivery that may have arrived. It is due again as if it had not been claimed. */
export async function releaseDelivery(
  db: Database,
  { receiverId, deliveryId, attempt }: ClaimedDelivery,
  now: Date,
): Promise<void> {
  await db
    .updateTable('webhook_delivery')
    .set({ next_attempt_at: now, attempts: attempt - 1 })
    .where('receiver_id', '=', receiverId)
    .where('delivery_id', '=', deliveryId)
    .where('attempts', '=', attempt)
    .where('state', '=', 'pending')
    .execute()
}

/** Requeues a failed delivery if its endpoint and its app, if any, are active. Otherwise returns undefined. */
export async function requeueDelivery(tx: Transaction, receiverId: string, deliveryId: string, now: Date) {
  const { rows } = await sql<Delivery>`
    update webhook_delivery delivery set state = 'pending', next_attempt_at = ${now}
    from ${replicaOf(tx, 'webhook_endpoint')} left join ${replicaOf(tx, 'app')} using (client_id)
    where delivery.receiver_id = ${receiverId} and delivery_id = ${deliveryId} and state = 'failed'
      and webhook_endpoint.receiver_id = delivery.receiver_id and disabled_at is null
      and coalesce(app.status, 'active') = 'active'
    returning delivery_id as "deliveryId", type, state, delivery.created_at as "createdAt",
      next_attempt_at as "nextAttemptAt"`.execute(tx)
  return rows[0]
}

/** Returns the state of a delivery, or undefined if there is none. */
export async function findState(tx: Transaction, receiverId: string, deliveryId: string) {
  const found = await tx
    .selectFrom('webhook_delivery')
    .select('state')
    .where('receiver_id', '=', receiverId)
    .where('delivery_id', '=', deliveryId)
    .executeTakeFirst()
  return found?.state
}
