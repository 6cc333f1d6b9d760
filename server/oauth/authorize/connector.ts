import type { CommunicationMode } from '@countersign/protocol/oauth/delegations'
import { isReservedScope, isResourceKey } from '@countersign/protocol/formats/resource'
import { scopesOf } from '@countersign/protocol/formats/scope'
import type { AuthorizeRequest } from '@countersign/protocol/oauth/authorize'
import type { Connector } from '@countersign/protocol/pages'
import { findActiveResource, type ActiveResource } from '#clients/resources/resource.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'

/** What an app asks for that wants to act at a resource of another, as it came. */
export type AskedConnector = {
  resource: string | undefined
  /** Which one the person was shown, where they were. */
  resourceId?: string | undefined
  scope: string | undefined
  mode: string | undefined
}

/** The same, where there is such a resource and it has all of these scopes. */
export type CheckedConnector = { resource: ActiveResource; scope: string[]; mode: CommunicationMode }

const refuse = refusals({
  invalid_request: [400, 'The request of the connector is malformed.'],
  invalid_target: [400, 'There is no such resource, or it is not active.'],
  invalid_scope: [400, 'A scope is asked for that the resource does not have, or none.'],
})

type Fields = 'connector' | 'requestedResource' | 'requestedResourceId' | 'requestedScope' | 'communicationMode'
type Sent = { [Field in Fields]?: AuthorizeRequest[Field] | undefined }

/** The fields of a consent that are of a connector. Refuses `invalid_request` where they come without its mark. */
export function readConnectorFields(sent: Sent): AskedConnector | undefined {
  const given = {
    resource: sent.requestedResource ?? undefined,
    resourceId: sent.requestedResourceId ?? undefined,
    scope: sent.requestedScope ?? undefined,
    mode: sent.communicationMode ?? undefined,
  }
  if (sent.connector === true) return given
  // The mode that counts unless another is named says nothing: some clients send all fields.
  const { mode, ...named } = given
  if ((mode ?? 'user_present') !== 'user_present' || Object.values(named).some((value) => value !== undefined))
    throw refuse.invalid_request({ sentence: 'The fields of a connector need connector to be true.' })
  return undefined
}

/**
 * What a request asks that names a resource by its address (RFC 8707 §2.1), as MCP clients do: the scopes that mean
 * something here are the app's own, the others are for the resource. It may act while the person is away where it asks
 * for `offline_access`. Undefined where it names none. Refuses `invalid_target`.
 */
export function readIndicated({ resource, scope: list = '' }: { resource?: string; scope?: string }) {
  if (resource === undefined) return undefined
  requireIndicator(resource)
  const { own, scope } = splitScopes(list)
  const mode = own.includes('offline_access') ? 'background' : 'user_present'
  return { scope: own.join(' '), connector: { resource, scope: scope.join(' '), mode } }
}

/** Refuses `invalid_target` for the key of a resource, which is no address. */
export function requireIndicator(resource: string): void {
  if (isResourceKey(resource)) throw refuse.invalid_target()
}

/** Of a list of scopes those of the app's own, and those of a resource, which never are one of ours. */
export function splitScopes(list: string): { own: string[]; scope: string[] } {
  const asked = scopesOf(list)
  return { own: asked.filter(isReservedScope), scope: asked.filter((each) => !isReservedScope(each)) }
}

/** Refuses `invalid_request`, `invalid_target`, `invalid_scope`. */
export async function requireConnector(
  db: Database | Transaction,
  { resource: named, resourceId, scope: list = '', mode = 'user_present' }: AskedConnector,
): Promise<CheckedConnector> {
  if (mode !== 'user_present' && mode !== 'background')
    throw refuse.invalid_request({ sentence: 'The mode of a connector is user_present or background.' })
  if (named === undefined) throw refuse.invalid_request({ sentence: 'A connector needs a resource.' })
  const resource = await findActiveResource(db, named)
  if (!resource || (resourceId !== undefined && resourceId !== resource.resourceId)) throw refuse.invalid_target()
  const scope = scopesOf(list)
  if (scope.length === 0 || !scope.every((each) => resource.scopes.includes(each))) throw refuse.invalid_scope()
  return { resource, scope, mode }
}

/** A connector as the page that asks for consent shows it. */
export function toConnector({ resource, scope, mode }: CheckedConnector): Omit<Connector, 'withdrawn'> {
  const { resourceId, resourceKey, displayName, description, audience, scopes, scopeDescriptions } = resource
  const descriptionOf = (each: string) => scopeDescriptions[scopes.indexOf(each)] ?? ''
  return {
    resourceId,
    resourceKey,
    displayName,
    description,
    audience,
    owner: {
      clientId: resource.ownerClientId,
      name: resource.ownerName,
      iconUrl: resource.ownerIconUrl,
      websiteUrl: resource.ownerWebsiteUrl,
    },
    scopes: scope.map((each) => ({ scope: each, description: descriptionOf(each) })),
    mode,
  }
}
