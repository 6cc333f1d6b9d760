import { isDeepStrictEqual } from 'node:util'
import type { DeclaredResource, Resource } from '@countersign/protocol/clients/resources'
import type { ClientId } from '@countersign/protocol/ids'
import { createResource, updateResource } from '#clients/resources/resource.ts'
import { afterCommit } from '#platform/database/database.ts'
import { type Applying, requireDistinct } from '../plan.ts'

/** A resource of an app with all of its settings. */
export type WholeResource = Required<DeclaredResource>

/** Returns a resource whose settings are all there. */
export function wholeResource(resource: DeclaredResource | Resource): WholeResource {
  const { resourceKey, displayName, scopes, audience } = resource
  const { description = null, scopeDescriptions = {}, status = 'active' } = resource
  const described = Object.fromEntries(Object.entries(scopeDescriptions).filter(([, text]) => text !== ''))
  return { resourceKey, displayName, description, scopes, scopeDescriptions: described, audience, status }
}

/**
 * Returns the resources that an app is to have, by key. Those that are not declared are disabled, since none can be
 * deleted: delegations of users name them. Throws `invalid_request` if one is declared twice.
 */
export function desiredResources(declared: DeclaredResource[], before: WholeResource[]): WholeResource[] {
  requireDistinct(declared.map(({ resourceKey }) => resourceKey))
  const keys = new Set(declared.map(({ resourceKey }) => resourceKey))
  const disabled = before
    .filter(({ resourceKey }) => !keys.has(resourceKey))
    .map((resource) => ({ ...resource, status: 'disabled' as const }))
  return byKey([...declared.map(wholeResource), ...disabled])
}

function byKey(resources: WholeResource[]): WholeResource[] {
  return resources.toSorted((one, other) => (one.resourceKey < other.resourceKey ? -1 : 1))
}

/** Returns a resource as a document declares it: without what has its default. */
export function declarationOfResource(resource: WholeResource): DeclaredResource {
  const { description, scopeDescriptions, status, ...rest } = resource
  return {
    ...rest,
    ...(description !== null && { description }),
    ...(Object.keys(scopeDescriptions).length > 0 && { scopeDescriptions }),
    ...(status !== 'active' && { status }),
  }
}

/** Creates and changes the resources of an app that differ. Throws as `createResource` and `updateResource`. */
export async function replaceResources(
  applying: Applying,
  clientId: ClientId,
  { before, desired }: { before: WholeResource[]; desired: WholeResource[] },
): Promise<void> {
  for (const resource of desired) {
    const existing = before.find(({ resourceKey }) => resourceKey === resource.resourceKey)
    if (existing) await changeResource(applying, { clientId, existing, resource })
  }
  for (const resource of desired)
    if (!before.some(({ resourceKey }) => resourceKey === resource.resourceKey))
      await addResource(applying, clientId, resource)
}

async function addResource(applying: Applying, clientId: ClientId, resource: WholeResource): Promise<void> {
  const { kernel, tx, operator: manager, resources, now } = applying
  const { status, ...created } = resource
  await createResource({ ...kernel, db: tx }, { manager, clientId }, created, now)
  afterCommit(tx, () => resources.forget({ clientId, ...resource }))
  if (status === 'active') return
  const ref = { manager, clientId, resourceKey: resource.resourceKey }
  await updateResource({ ...kernel, db: tx }, ref, { status }, now)
}

type Changing = { clientId: ClientId; existing: WholeResource; resource: WholeResource }

async function changeResource(applying: Applying, { clientId, existing, resource }: Changing): Promise<void> {
  const { kernel, tx, operator: manager, resources, now } = applying
  const { resourceKey, ...settings } = resource
  const before = new Map<string, unknown>(Object.entries(existing))
  const changes = Object.entries(settings).filter(([name, value]) => !isDeepStrictEqual(before.get(name), value))
  if (changes.length === 0) return
  const ref = { clientId, resourceKey }
  const { isForAll } = await updateResource(
    { ...kernel, db: tx },
    { manager, ...ref },
    Object.fromEntries(changes),
    now,
  )
  afterCommit(tx, () => (isForAll ? resources.forgetEverywhere(ref) : resources.forget(ref)))
}
