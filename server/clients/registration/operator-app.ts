import type { ClientId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { OutboundClient } from '#platform/outbound/fetch.ts'
import { deletePictures } from '#platform/pictures/picture.ts'
import type { RegisteredApp } from './directory.ts'
import * as store from './store.ts'

/** Finds an app that an operator registered. Undefined for apps of users and of client metadata documents. */
export async function findOperatorApp(
  db: Database | Transaction,
  clientId: ClientId,
): Promise<RegisteredApp | undefined> {
  const app = await store.findApp(db, clientId)
  return app && isOfOperator(app) ? app : undefined
}

type Registration = Pick<RegisteredApp, 'ownerUserId' | 'metadataFetchedAt'>

/** Checks whether an operator registered an app. Its owner never changes. */
function isOfOperator({ ownerUserId, metadataFetchedAt }: Registration): boolean {
  return ownerUserId === null && metadataFetchedAt === null
}

/** Returns the client for the webhook and logout URI of an app. OUTBOUND_NETWORKS concerns apps of operators alone. */
export function clientFor(outbound: OutboundClient, app: Registration): OutboundClient['ofOperator'] {
  return isOfOperator(app) ? outbound.ofOperator : outbound
}

/** Lists `count` apps that an operator registered, by client ID, those after another one. */
export function listOperatorApps(
  db: Database,
  page: { after: ClientId | undefined; count: number },
): Promise<RegisteredApp[]> {
  return store.listOperatorApps(db, page)
}

/**
 * Deletes an app that is disabled and was not changed since an instant. No process serves a disabled one. Returns false
 * otherwise: an operator may have enabled it, and disabled it again for another reason.
 */
export async function deleteDisabledApp(
  tx: Transaction,
  { clientId, since }: { clientId: ClientId; since: Date },
  now: Date,
): Promise<boolean> {
  const app = await store.lockApp(tx, clientId)
  if (app?.status !== 'disabled' || app.updatedAt > since) return false
  await deletePictures(tx, [clientId])
  await store.deleteApp(tx, clientId, now)
  await recordAuditEvent(tx, { action: 'app.deleted', actor: 'system', clientId }, now)
  return true
}
