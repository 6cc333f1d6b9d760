import { isReservedScope, isResourceKey, withoutTrailingSlash } from '@countersign/protocol/formats/scope'
import type { ServerContext } from '#platform/module/services.ts'
import { createCache, passStale } from '#clients/registration/directory.ts'
import * as store from './store.ts'
import type { RegisteredResource } from './store.ts'
import { isDisplayName, isShown } from '@countersign/protocol/formats/display-name'
import type { NewResource, ResourceChange } from '@countersign/protocol/clients/resources'
import type { ClientId } from '@countersign/protocol/ids'
import { type Config, isLocal } from '#platform/config/config.ts'
import { hasPlainHost } from '#platform/origin.ts'
import { defineErrors } from '#platform/api-error.ts'
import { startsWithOrigin } from '#clients/registration/settings.ts'
import { type Lagging, always, never, whereNoneIsGone } from '#clients/registration/settings-change.ts'

export type { RegisteredResource }

/** Directory of active resources. Changes by other processes are visible here within five seconds. */
export type ResourceDirectory = {
  find: (resourceKey: string) => Promise<RegisteredResource | undefined>
  /** Lists the active resources of an app, oldest first. */
  listOf: (clientId: ClientId) => Promise<RegisteredResource[]>
  /** Drops a resource that was changed in this process, so that the change is visible here at once. */
  forget: (resource: { clientId: ClientId; resourceKey: string }) => void
  /** Drops a resource and waits until no process has the old one cached, for changes that remove something. */
  forgetEverywhere: (resource: { clientId: ClientId; resourceKey: string }) => Promise<void>
}

export function createResourceDirectory({
  db,
  clock,
  config,
}: Pick<ServerContext, 'db' | 'clock' | 'config'>): ResourceDirectory {
  const byKey = createCache((resourceKey: string) => store.findResource(db, resourceKey), clock)
  const byApp = createCache((clientId: ClientId) => store.listResources(db, clientId), clock)
  function forget({ clientId, resourceKey }: { clientId: ClientId; resourceKey: string }): void {
    byKey.forget(resourceKey)
    byApp.forget(clientId)
  }
  return {
    async find(resourceKey) {
      const resource = isResourceKey(resourceKey) ? await byKey.read(resourceKey) : undefined
      return resource?.status === 'active' ? resource : undefined
    },
    async listOf(clientId) {
      const found = (await byApp.read(clientId)) ?? []
      return found.filter(({ status }) => status === 'active')
    },
    forget,
    async forgetEverywhere(resource) {
      forget(resource)
      await passStale(config)
    },
  }
}

/** Settings of a resource that can be changed later. */
export type ResourceSettings = Pick<
  RegisteredResource,
  'displayName' | 'description' | 'scopes' | 'scopeDescriptions' | 'audience' | 'status'
>
export type OwnHosts = Pick<Config, 'baseUrl' | 'authUrl' | 'businessUrl'>

const errors = defineErrors({ invalid_request: [400, 'Invalid resource settings.'] })

/** Matches an absolute URI without a fragment, in the characters of RFC 3986. */
const absoluteUri = /^[a-z][a-z0-9+.-]*:[\w.~:/?[\]@!$&'()*+,;=%-]+$/

/** Merges the request into the existing settings. */
export function mergeResourceSettings(sent: NewResource | ResourceChange, before: ResourceSettings): ResourceSettings {
  const { scopeDescriptions, ...rest } = sent
  const { scopes } = { ...before, ...rest }
  const words = new Map(Object.entries(scopeDescriptions ?? withScopeDescriptions(before)))
  return { ...before, ...rest, scopeDescriptions: scopes.map((scope) => words.get(scope) ?? '') }
}

/** Changes of a resource that other processes may apply some seconds later. */
export const laggingResourceSettings: Lagging<ResourceSettings> = {
  displayName: always,
  description: always,
  scopeDescriptions: always,
  scopes: whereNoneIsGone,
  audience: never,
  status: never,
}

/** Returns the scopes with their descriptions, where they have one. */
export function withScopeDescriptions({
  scopes,
  scopeDescriptions,
}: Pick<ResourceSettings, 'scopes' | 'scopeDescriptions'>): Record<string, string> {
  const described = scopes.map((scope, nth) => [scope, scopeDescriptions[nth] ?? ''] as const)
  return Object.fromEntries(described.filter(([, words]) => words !== ''))
}

/** Throws `invalid_request` for settings with which a resource could impersonate something else. */
export function validateResourceSettings(
  { sent, resourceKey, scopes }: { sent: NewResource | ResourceChange; resourceKey: string; scopes: string[] },
  own: OwnHosts,
): void {
  if (sent.displayName !== undefined && !isDisplayName(sent.displayName))
    throw errors.invalid_request({ sentence: 'displayName must be 1 to 80 visible characters.' })
  if (sent.description && !isShown(sent.description))
    throw errors.invalid_request({ sentence: 'description contains an invisible character.' })

  const reserved = sent.scopes?.find(isReservedScope)
  if (reserved !== undefined)
    throw errors.invalid_request({ sentence: `scopes contains ${reserved}, which has another meaning here.` })
  for (const [scope, words] of Object.entries(sent.scopeDescriptions ?? {})) {
    if (!scopes.includes(scope))
      throw errors.invalid_request({ sentence: 'scopeDescriptions has a key that is not in scopes.' })
    if (!isShown(words))
      throw errors.invalid_request({ sentence: `The description of scope ${scope} contains an invisible character.` })
  }
  if (sent.audience !== undefined) requireAudience(sent.audience, resourceKey, own)
}

/**
 * Throws `invalid_request` for an audience that could be mistaken for this service, for an origin other than the one in
 * its text, or for the key of another resource.
 */
function requireAudience(audience: string, resourceKey: string, own: OwnHosts): void {
  const because = (rule: string) => errors.invalid_request({ sentence: `audience ${rule}` })
  const url = absoluteUri.test(audience) ? URL.parse(audience) : null
  if (!url) throw because('must be an absolute URI without a fragment, such as https://api.example.com.')
  if (url.username !== '' || url.password !== '') throw because('must not have a user name or password.')
  if (url.origin !== 'null' && !hasPlainHost(url))
    throw because('must have a host of letters, digits, hyphens and dots.')
  if (url.origin !== 'null' && !startsWithOrigin(audience, url.origin))
    throw because(`must start with its normalized origin: ${url.origin}`)
  if (isOurs(url, own)) throw because('must not be a host of this service.')

  const name = withoutTrailingSlash(audience)
  if (isResourceKey(name) && name !== resourceKey) throw because('must not be the key of another resource.')
}

function isOurs(url: URL, { baseUrl, authUrl, businessUrl }: OwnHosts): boolean {
  const hostname = url.hostname.replace(/\.$/, '')
  return [baseUrl, authUrl, businessUrl].some((ours) =>
    isLocal(ours) ? isLocal({ hostname }) && url.port === ours.port : hostname === ours.hostname,
  )
}
