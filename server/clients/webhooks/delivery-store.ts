import type { Database, Transaction } from '#platform/database/database.ts'

/**
 * The newest deliveries of an app that are older than `before`, or of all: each once for every attempt, in their order,
 * and once without where there was none. One statement, so that an attempt is never read without what became of it.
 */
export function listDeliveries(db: Database, clientId: string, before: string | undefined, count: number) {
  const newest = db
    .selectFrom('webhook_delivery')
    .select(['client_id', 'delivery_id', 'type', 'state', 'created_at', 'due_at'])
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
    .select(['delivery.delivery_id as deliveryId', 'type', 'state', 'created_at as createdAt', 'due_at as dueAt'])
    .select(['attempt.at', 'attempt.status', 'attempt.reason'])
    .orderBy('delivery.delivery_id', 'desc')
    .orderBy('attempt.attempt')
    .execute()
}

export type Delivery = Pick<
  Awaited<ReturnType<typeof listDeliveries>>[number],
  'deliveryId' | 'type' | 'state' | 'createdAt' | 'dueAt'
>

/** The attempts of a delivery, in their order. */
export function listAttempts(db: Database | Transaction, clientId: string, deliveryId: string) {
  return db
    .selectFrom('webhook_attempt')
    .select(['at', 'status', 'reason'])
    .where('client_id', '=', clientId)
    .where('delivery_id', '=', deliveryId)
    .orderBy('attempt')
    .execute()
}
