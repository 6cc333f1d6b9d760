import type { CommunicationMode } from '@countersign/protocol/oauth/delegations'
import { isReservedScope, isResourceKey } from '@countersign/protocol/formats/scope'
import type { AuthorizeRequest } from '@countersign/protocol/oauth/authorize'
import type { Connector } from '@countersign/protocol/pages'
import type { IdentityId } from '@countersign/protocol/ids'
import { limits } from '@countersign/protocol/formats/limits'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { type ActiveResource, findActiveResource } from '#clients/resources/resource.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { addSeconds } from '#platform/clock.ts'
import { findDelegation, grantDelegation } from '#oauth/delegation/delegation.ts'
import type { RecoveredSession, Session } from '#accounts/sessions/session.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import { reauthenticationError } from './parameters.ts'

/** Request of an app to act at a resource of another app, as received. */
export type ConnectorRequest = {
  resource: string | undefined
  /** ID of the resource that was shown to the user, if one was shown. */
  resourceId?: string | undefined
  scope: string | undefined
  mode: string | undefined
}

/** Validated request of a connector: the resource exists and defines all requested scopes. */
export type ValidatedConnectorRequest = { resource: ActiveResource; scope: ScopeSet; mode: CommunicationMode }

const errors = defineErrors({
  invalid_request: [400, 'The connector parameters are malformed.'],
  invalid_target: [400, 'The resource does not exist or is disabled.'],
  invalid_scope: [400, 'requestedScope is empty or contains a scope that the resource does not define.'],
})

type Fields = 'connector' | 'requestedResource' | 'requestedResourceId' | 'requestedScope' | 'communicationMode'
type ConnectorFields = { [Field in Fields]?: AuthorizeRequest[Field] | undefined }

/** Parses the connector fields of a consent. Throws `invalid_request` if they come without `connector`. */
export function parseConnectorRequest(sent: ConnectorFields): ConnectorRequest | undefined {
  const given = {
    resource: sent.requestedResource ?? undefined,
    resourceId: sent.requestedResourceId ?? undefined,
    scope: sent.requestedScope ?? undefined,
    mode: sent.communicationMode ?? undefined,
  }
  if (sent.connector === true) return given
  // The default mode counts as absent: some clients send all fields.
  const { mode, ...named } = given
  if ((mode ?? 'user_present') !== 'user_present' || Object.values(named).some((value) => value !== undefined))
    throw errors.invalid_request({ sentence: 'Connector fields require connector to be true.' })
  return undefined
}

/**
 * Parses a request that names a resource by its URL (RFC 8707 §2.1), as MCP clients do. Returns undefined if it names
 * none.
 *
 * Scopes of this provider are the app's own; all others are for the resource. With `offline_access` the app may act
 * while the user is away. Throws `invalid_target`.
 */
export function parseResourceIndicator({
  resource,
  scope: list,
}: {
  resource: string | undefined
  scope: string
}): { scope: string; connector: ConnectorRequest } | undefined {
  if (resource === undefined) return undefined
  validateResourceIndicator(resource)
  const { own, scope } = splitScopes(list)
  const mode = own.has('offline_access') ? 'background' : 'user_present'
  return { scope: own.toString(), connector: { resource, scope: scope.toString(), mode } }
}

/** Throws `invalid_target` for a resource key, which is not a URL. */
export function validateResourceIndicator(resource: string): void {
  if (isResourceKey(resource)) throw errors.invalid_target()
}

/**
 * Splits a list of scopes into the app's own scopes and those of a resource, which never have the name of one of ours.
 */
export function splitScopes(list: string): { own: ScopeSet; scope: ScopeSet } {
  const requested = ScopeSet.parse(list)
  const own = requested.filter(isReservedScope)
  return { own, scope: requested.without(own) }
}

/**
 * Checks that the requested resource is active and defines the requested scopes. Throws `invalid_request`,
 * `invalid_target`, `invalid_scope`.
 */
export async function validateConnector(
  db: Database | Transaction,
  { resource: named, resourceId, scope: list = '', mode = 'user_present' }: ConnectorRequest,
): Promise<ValidatedConnectorRequest> {
  if (mode !== 'user_present' && mode !== 'background')
    throw errors.invalid_request({ sentence: 'mode must be user_present or background.' })
  if (named === undefined) throw errors.invalid_request({ sentence: 'A connector request requires a resource.' })
  const resource = await findActiveResource(db, named)
  if (!resource || (resourceId !== undefined && resourceId !== resource.resourceId)) throw errors.invalid_target()
  const scope = ScopeSet.parse(list)
  if (scope.size === 0 || !scope.isWithin(new ScopeSet(resource.scopes))) throw errors.invalid_scope()
  return { resource, scope, mode }
}

type Granting = {
  request: Pick<AuthorizationRequest, 'clientId' | 'prompts'>
  identityId: IdentityId
  connector: ValidatedConnectorRequest
}

/**
 * Records the delegation of a consent. Throws `reauthentication_required`, or `login_required` if the user must not be
 * asked, if they last authenticated so long ago that the code would give no token of the resource: its app may act
 * while they are present.
 */
export async function grantConnector(
  tx: Transaction,
  { authTime }: Pick<Session | RecoveredSession, 'authTime'>,
  { request, identityId, connector }: Granting,
  now: Date,
): Promise<void> {
  const { resource, scope, mode } = connector
  const { resourceId, resourceKey, ownerName: targetApp } = resource
  const parties = { identityId, sourceClientId: request.clientId, resourceId }
  const presentSince = addSeconds(now, limits.codeLifetimeSeconds - limits.userPresentSeconds)
  if (mode === 'user_present' && authTime < presentSince) {
    const { delegation } = await findDelegation(tx, parties, connector)
    if (delegation?.communicationMode !== 'background') throw reauthenticationError(request)
  }
  await grantDelegation(tx, { ...parties, resourceKey, targetApp, scope, mode }, now)
}

/** Maps a connector to the form that the consent page shows. */
export function toConnector({ resource, scope, mode }: ValidatedConnectorRequest): Omit<Connector, 'withdrawn'> {
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
    scopes: [...scope].map((each) => ({ scope: each, description: descriptionOf(each) })),
    mode,
  }
}
