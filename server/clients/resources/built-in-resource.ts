import { randomUUIDv7 } from 'node:crypto'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Database, transaction } from '#platform/database/database.ts'
import type { RegisteredResource, ResourceSettings } from './settings.ts'
import * as store from './store.ts'

type BuiltInResource = Pick<RegisteredResource, 'clientId' | 'resourceKey'> & Omit<ResourceSettings, 'status'>

/**
 * Creates or updates a resource of an app of this service, with exactly these settings. Safe in concurrent processes.
 * If another app already has its key or audience, there is no such resource: returns false.
 */
export async function ensureResource(db: Database, settings: BuiltInResource, now: Date): Promise<boolean> {
  const { clientId, resourceKey } = settings
  const resource = {
    ...settings,
    status: 'active' as const,
    resourceId: randomUUIDv7(),
    disabledByOperator: false,
    createdAt: now,
    updatedAt: now,
  }
  return transaction(db, async (tx) => {
    if (await store.insertFreeResource(tx, resource)) {
      const details = { resource: resourceKey }
      await recordAuditEvent(tx, { action: 'resource.created', actor: 'system', clientId, details }, now)
      return true
    }
    const existing = await store.lockResource(tx, clientId, resourceKey)
    if (existing) await store.updateResource(tx, { ...existing, ...settings, status: 'active', updatedAt: now })
    return existing !== undefined
  })
}
