import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { isResourceKey } from '@countersign/protocol/formats/scope'
import type { NewResource, OwnedResource, Resource, ResourceChange } from '@countersign/protocol/clients/resources'
import type { ClientId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Database, type Transaction, isUniqueViolation } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import { getApp, lockManagedApp } from '#clients/registration/app.ts'
import {
  type RegisteredResource,
  type ResourceSettings,
  laggingResourceSettings,
  mergeResourceSettings,
  validateResourceSettings,
  withScopeDescriptions,
} from './settings.ts'
import * as store from './store.ts'
import { mustHoldEverywhere } from '#clients/registration/settings-change.ts'
import {
  type AppManager,
  type ManagedAppRef,
  auditActor,
  nextOperatorDisabled,
  disabledByOperatorError,
  requireRecentAuthenticationOf,
  managerTransaction,
} from '#clients/registration/management.ts'

export type ActiveResource = store.ActiveResource

const errors = defineErrors({
  resource_not_found: [404, 'Resource not found.'],
  resource_key_taken: [409, 'resourceKey is already in use.'],
  client_metadata_immutable: [409, 'A client registered by its metadata document cannot offer resources.'],
  audience_taken: [409, 'audience is already in use by another resource.'],
  too_many_resources: [409, `An app can have at most ${limits.resourcesPerAppMax} resources. Delete one first.`],
})

/** Matches possible resource keys and audiences (URIs). Other text is rejected without a look-up. */
const nameable = /^[\x21-\x7e]{2,2000}$/

/**
 * Finds an active resource by its key or its audience, exactly except for a trailing slash. No audience can equal the
 * key of another resource, so a name identifies one resource.
 */
export async function findActiveResource(
  db: Database | Transaction,
  named: string,
): Promise<ActiveResource | undefined> {
  return nameable.test(named) ? store.findActive(db, named) : undefined
}

/** Returns the public fields of an active resource and its app. Throws `resource_not_found`. */
export function toResourceMetadata(
  resource: RegisteredResource | undefined,
  owner: RegisteredApp | undefined,
): OwnedResource {
  if (!resource || !owner) throw errors.resource_not_found()
  return {
    ...toResource(resource),
    ownerAppClientId: owner.clientId,
    ownerAppName: owner.name,
    ownerAppDescription: owner.description,
    ownerAppIconUrl: owner.iconUrl,
    ownerAppWebsiteUrl: owner.websiteUrl,
  }
}

/** Lists all resources of an app, including disabled ones. Throws `app_not_found`. */
export async function listResources(db: Database, target: ManagedAppRef): Promise<Resource[]> {
  await getApp(db, target)
  return readResources(db, target.clientId)
}

/** Lists all resources of an app whose manager is already checked. */
export async function readResources(db: Database | Transaction, clientId: ClientId): Promise<Resource[]> {
  return (await store.listResources(db, clientId)).map(toResource)
}

type Registry = Pick<ServerContext, 'db' | 'config'>

/**
 * Creates a resource of an app. Throws `app_not_found`, `client_metadata_immutable`, `invalid_request`,
 * `too_many_resources`, `resource_key_taken`, `audience_taken` or `disabled_by_operator`.
 */
export async function createResource(
  { db, config }: Registry,
  { manager, clientId }: ManagedAppRef,
  sent: NewResource,
  now: Date,
): Promise<Resource> {
  const { resourceKey, ...settings } = sent
  const unset: ResourceSettings = { ...settings, description: null, scopeDescriptions: [], status: 'active' }
  const kept = {
    resourceId: randomUUIDv7(),
    resourceKey,
    clientId,
    disabledByOperator: false,
    createdAt: now,
    updatedAt: now,
  }
  const resource = { ...mergeResourceSettings(settings, unset), ...kept }

  await managerTransaction(db, manager, async (tx) => {
    const app = await lockManagedApp(tx, { manager, clientId })
    if (app.metadataFetchedAt) throw errors.client_metadata_immutable()
    validateResourceSettings({ sent, resourceKey, scopes: sent.scopes }, config)
    if ((await store.countResourcesOf(tx, clientId)) >= limits.resourcesPerAppMax) throw errors.too_many_resources()
    await store.insertResource(tx, resource).catch(throwIfTaken)
    await requireFreeNames(tx, manager, resource)
    const details = { resource: resourceKey }
    await recordAuditEvent(tx, { action: 'resource.created', ...auditActor(manager), clientId, details }, now)
  })
  return toResource(resource)
}

/**
 * Changes the given settings of a resource and keeps the others. Also returns whether all processes must apply the
 * change before the response. Throws `app_not_found`, `resource_not_found`, `invalid_request`,
 * `reauthentication_required`, `audience_taken` or `disabled_by_operator`.
 */
export function updateResource(
  { db, config }: Registry,
  { manager, clientId, resourceKey }: ManagedAppRef & { resourceKey: string },
  sent: ResourceChange,
  now: Date,
): Promise<{ resource: Resource; isForAll: boolean }> {
  return managerTransaction(db, manager, async (tx) => {
    await lockManagedApp(tx, { manager, clientId })
    const resource = isResourceKey(resourceKey) && (await store.lockResource(tx, clientId, resourceKey))
    if (!resource) throw errors.resource_not_found()
    const settings = mergeResourceSettings(sent, resource)
    validateResourceSettings({ sent, resourceKey, scopes: settings.scopes }, config)
    // These settings determine the recipient of tokens, and whether tokens are issued at all.
    if (sent.audience !== undefined || sent.status !== undefined) requireRecentAuthenticationOf(manager, now)

    const changed = {
      ...resource,
      ...settings,
      disabledByOperator: nextOperatorDisabled(manager, resource, sent),
      updatedAt: now,
    }
    await store.updateResource(tx, changed).catch(throwIfTaken)
    if (sent.audience !== undefined) await requireFreeNames(tx, manager, changed)
    const details = { resource: resourceKey, changed: Object.keys(sent) }
    await recordAuditEvent(tx, { action: 'resource.updated', ...auditActor(manager), clientId, details }, now)
    return { resource: toResource(changed), isForAll: mustHoldEverywhere(laggingResourceSettings, changed, resource) }
  })
}

/**
 * Throws `audience_taken` or `disabled_by_operator` for names with which a resource could impersonate another app or
 * restore a disabled resource. The resource is already inserted, so that no other can claim the names in the meantime.
 * The operator can assign a held name again.
 */
async function requireFreeNames(tx: Transaction, manager: AppManager, named: RegisteredResource): Promise<void> {
  if (await store.isClientIdOfOther(tx, named))
    throw errors.audience_taken({ sentence: 'audience is the client_id of another app.' })
  if (manager.actor === 'operator') return store.releaseName(tx, named)
  if (await store.isHeldName(tx, named)) throw disabledByOperatorError()
}

function throwIfTaken(error: unknown): never {
  if (isUniqueViolation(error, 'app_resource_pkey')) throw errors.resource_key_taken()
  if (isUniqueViolation(error, 'app_resource_audience')) throw errors.audience_taken()
  throw error
}

/** Returns a resource with its public fields, which its managers see too. */
export function toResource(resource: RegisteredResource): Resource {
  return {
    resourceKey: resource.resourceKey,
    displayName: resource.displayName,
    description: resource.description,
    scopes: resource.scopes,
    scopeDescriptions: withScopeDescriptions(resource),
    audience: resource.audience,
    status: resource.status,
  }
}

/** Holds the names of resources that the operator has disabled, for apps that are being deleted and are locked. */
export async function holdResources(tx: Transaction, clientIds: ClientId[]): Promise<void> {
  await store.holdResources(tx, clientIds)
}
