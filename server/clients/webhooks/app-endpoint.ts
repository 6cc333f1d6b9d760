import type { ClientId } from '@countersign/protocol/ids'
import { defineErrors } from '#platform/api-error.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import * as store from './store.ts'

const errors = defineErrors({ webhook_not_found: [404, 'The app has no webhook. Configure one first.'] })

/** Finds the webhook of an app. Its receiver may have another ID than the app. Throws `webhook_not_found`. */
export async function findAppEndpoint(db: Database | Transaction, clientId: ClientId) {
  return requireFound(await store.findEndpoint(db, clientId))
}

/** Throws `webhook_not_found` without a webhook. */
export function requireFound<Endpoint extends object>(found: Endpoint | undefined): Endpoint {
  if (found === undefined) throw errors.webhook_not_found()
  return found
}
