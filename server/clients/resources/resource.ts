import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { isResourceKey } from '@countersign/protocol/formats/resource'
import type { NewResource, OwnedResource, Resource, ResourceChange } from '@countersign/protocol/clients/resources'
import { record } from '#platform/audit/audit.ts'
import { isTaken, type Database, type Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import type { RegisteredApp } from '#clients/registration/app-directory.ts'
import { readApp, requireAppOf } from '#clients/registration/app.ts'
import type { RegisteredResource } from './resource-directory.ts'
import {
  describedScopes,
  laggingResourceSettings,
  requireAcceptableResource,
  settingsAfter,
  type ResourceSettings,
} from './resource-settings.ts'
import * as resources from './store.ts'
import { mustHoldEverywhere } from '#clients/registration/settings-change.ts'
import {
  byline,
  isHeldAfter,
  refuseHeld,
  requirePresence,
  stewardTransaction,
  type Sought,
  type Steward,
} from '#clients/registration/steward.ts'
import * as store from '#clients/registration/store.ts'

export type ActiveResource = resources.ActiveResource

const refuse = refusals({
  resource_not_found: [404, 'There is no such resource.'],
  resource_key_taken: [409, 'There is a resource with this key already.'],
  described_by_itself: [409, 'This app is registered by nobody, and goes when nobody uses it: it offers no resources.'],
  audience_taken: [409, 'There is a resource with this audience already.'],
  too_many_resources: [409, `An app has at most ${limits.resourcesPerAppMax} resources.`],
})

/** What may be a resource key, or an audience: a URI. Anything else is answered without being looked up. */
const nameable = /^[\x21-\x7e]{2,2000}$/

/**
 * A resource at which apps may act now, by its key or its audience, letter for letter but for a slash at the end. No
 * audience could be the key of another, so that one name never means two resources.
 */
export async function findActiveResource(
  db: Database | Transaction,
  named: string,
): Promise<ActiveResource | undefined> {
  return nameable.test(named) ? resources.findActive(db, named) : undefined
}

/** What anyone may know of a resource that is active, and of its app. Refuses `resource_not_found`. */
export function toOwnedResource(
  resource: RegisteredResource | undefined,
  owner: RegisteredApp | undefined,
): OwnedResource {
  if (!resource || !owner) throw refuse.resource_not_found()
  return {
    ...toResource(resource),
    ownerAppClientId: owner.clientId,
    ownerAppName: owner.name,
    ownerAppDescription: owner.description,
    ownerAppIconUrl: owner.iconUrl,
    ownerAppWebsiteUrl: owner.websiteUrl,
  }
}

/** Every resource of an app, the disabled ones too. Refuses `app_not_found`. */
export async function listResources(db: Database, sought: Sought): Promise<Resource[]> {
  await readApp(db, sought)
  return (await resources.listResources(db, sought.clientId)).map(toResource)
}

type Registry = Pick<Kernel, 'db' | 'config'>

/**
 * Offers a resource of an app to others. Refuses `app_not_found`, `described_by_itself`, `invalid_request`,
 * `too_many_resources`, `resource_key_taken`, `audience_taken`, `disabled_by_operator`.
 */
export async function createResource(
  { db, config }: Registry,
  { steward, clientId }: Sought,
  sent: NewResource,
  now: Date,
): Promise<Resource> {
  const { resourceKey, ...settings } = sent
  const unset: ResourceSettings = { ...settings, description: null, scopeDescriptions: [], status: 'active' }
  const kept = { resourceId: randomUUIDv7(), resourceKey, clientId, isHeld: false, createdAt: now, updatedAt: now }
  const resource = { ...settingsAfter(settings, unset), ...kept }

  await stewardTransaction(db, steward, async (tx) => {
    const app = requireAppOf(steward, await store.lockApp(tx, clientId))
    if (app.documentReadAt) throw refuse.described_by_itself()
    requireAcceptableResource({ sent, resourceKey, scopes: sent.scopes }, config)
    if ((await resources.countResourcesOf(tx, clientId)) >= limits.resourcesPerAppMax) throw refuse.too_many_resources()
    await resources.insertResource(tx, resource).catch(refuseTaken)
    await requireFreeNames(tx, steward, resource)
    const details = { resource: resourceKey }
    await record(tx, { action: 'resource.created', ...byline(steward), clientId, details }, now)
  })
  return toResource(resource)
}

/**
 * Changes what is given and leaves the rest; answers also whether that is to hold in every process before it
 * is acknowledged. Refuses
 * `app_not_found`, `resource_not_found`, `invalid_request`,
 * `reauthentication_required`, `audience_taken`, `disabled_by_operator`.
 */
export function changeResource(
  { db, config }: Registry,
  { steward, clientId, resourceKey }: Sought & { resourceKey: string },
  sent: ResourceChange,
  now: Date,
): Promise<{ resource: Resource; isForAll: boolean }> {
  return stewardTransaction(db, steward, async (tx) => {
    requireAppOf(steward, await store.lockApp(tx, clientId))
    const resource = isResourceKey(resourceKey) && (await resources.lockResource(tx, clientId, resourceKey))
    if (!resource) throw refuse.resource_not_found()
    const settings = settingsAfter(sent, resource)
    requireAcceptableResource({ sent, resourceKey, scopes: settings.scopes }, config)
    // Who takes the tokens, and whether there are any.
    if (sent.audience !== undefined || sent.status !== undefined) requirePresence(steward, now)

    const changed = { ...resource, ...settings, isHeld: isHeldAfter(steward, resource, sent), updatedAt: now }
    await resources.updateResource(tx, changed).catch(refuseTaken)
    if (sent.audience !== undefined) await requireFreeNames(tx, steward, changed)
    const details = { resource: resourceKey, changed: Object.keys(sent) }
    await record(tx, { action: 'resource.changed', ...byline(steward), clientId, details }, now)
    return { resource: toResource(changed), isForAll: mustHoldEverywhere(laggingResourceSettings, changed, resource) }
  })
}

/**
 * Refuses names by which a resource, already written so that no other takes them meanwhile, would pass for another app,
 * or bring back what the operator has disabled: `audience_taken`, `disabled_by_operator`. The operator may give a held
 * name again.
 */
async function requireFreeNames(tx: Transaction, steward: Steward, named: RegisteredResource): Promise<void> {
  if (await resources.isClientIdOfOther(tx, named))
    throw refuse.audience_taken({ sentence: 'The audience is the client_id of another app.' })
  if (steward.actor === 'operator') return resources.releaseName(tx, named)
  if (await resources.isHeldName(tx, named)) throw refuseHeld()
}

function refuseTaken(error: unknown): never {
  if (isTaken(error, 'app_resource_pkey')) throw refuse.resource_key_taken()
  if (isTaken(error, 'app_resource_audience')) throw refuse.audience_taken()
  throw error
}

/** A resource as those see it who look after it, and everybody else. */
export function toResource(resource: RegisteredResource): Resource {
  return {
    resourceKey: resource.resourceKey,
    displayName: resource.displayName,
    description: resource.description,
    scopes: resource.scopes,
    scopeDescriptions: describedScopes(resource),
    audience: resource.audience,
    status: resource.status,
  }
}
