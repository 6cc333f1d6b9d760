import { isDisplayName, isShown } from '@countersign/protocol/formats/display-name'
import { isReservedScope, isResourceKey, withoutTrailingSlash } from '@countersign/protocol/formats/resource'
import type { NewResource, ResourceChange } from '@countersign/protocol/clients/resources'
import { isLocal, type Config } from '#platform/config/config.ts'
import { hasPlainHost } from '#platform/origin.ts'
import { refusals } from '#platform/refusal.ts'
import { startsWithOrigin } from '#clients/registration/redirect-uri.ts'
import type { RegisteredResource } from './store.ts'
import { always, never, whereNoneIsGone, type Lagging } from '#clients/registration/settings-change.ts'

/** What may be set of a resource, and changed later. */
export type ResourceSettings = Pick<
  RegisteredResource,
  'displayName' | 'description' | 'scopes' | 'scopeDescriptions' | 'audience' | 'status'
>
export type OwnHosts = Pick<Config, 'baseUrl' | 'authUrl' | 'businessUrl'>

const refuse = refusals({ invalid_request: [400, 'The settings of the resource are not acceptable.'] })

/** An absolute URI without a fragment, in the characters of RFC 3986. */
const absoluteUri = /^[a-z][a-z0-9+.-]*:[\w.~:/?[\]@!$&'()*+,;=%-]+$/

/** What is sent, as it is kept, over what was there before. */
export function settingsAfter(sent: NewResource | ResourceChange, before: ResourceSettings): ResourceSettings {
  const { scopeDescriptions, ...rest } = sent
  const { scopes } = { ...before, ...rest }
  const words = new Map(Object.entries(scopeDescriptions ?? describedScopes(before)))
  return { ...before, ...rest, scopeDescriptions: scopes.map((scope) => words.get(scope) ?? '') }
}

/** Which changes of a resource other processes may learn of a moment later. */
export const laggingResourceSettings: Lagging<ResourceSettings> = {
  displayName: always,
  description: always,
  scopeDescriptions: always,
  scopes: whereNoneIsGone,
  audience: never,
  status: never,
}

/** The words for each scope that has some. */
export function describedScopes({
  scopes,
  scopeDescriptions,
}: Pick<ResourceSettings, 'scopes' | 'scopeDescriptions'>): Record<string, string> {
  const described = scopes.map((scope, nth) => [scope, scopeDescriptions[nth] ?? ''] as const)
  return Object.fromEntries(described.filter(([, words]) => words !== ''))
}

/** Refuses `invalid_request` for settings by which a resource could pass for something else. */
export function requireAcceptableResource(
  { sent, resourceKey, scopes }: { sent: NewResource | ResourceChange; resourceKey: string; scopes: string[] },
  own: OwnHosts,
): void {
  if (sent.displayName !== undefined && !isDisplayName(sent.displayName))
    throw refuse.invalid_request({ sentence: 'The name is 1 to 80 characters, none of them invisible.' })
  if (sent.description && !isShown(sent.description))
    throw refuse.invalid_request({ sentence: 'The description has an invisible character.' })

  const reserved = sent.scopes?.find(isReservedScope)
  if (reserved !== undefined)
    throw refuse.invalid_request({ sentence: `The scope ${reserved} has another meaning here.` })
  for (const [scope, words] of Object.entries(sent.scopeDescriptions ?? {})) {
    if (!scopes.includes(scope)) throw refuse.invalid_request({ sentence: 'A description is of no scope in the list.' })
    if (!isShown(words))
      throw refuse.invalid_request({ sentence: `The description of ${scope} has an invisible character.` })
  }
  if (sent.audience !== undefined) requireAudience(sent.audience, resourceKey, own)
}

/**
 * Refuses an audience that another reader would take for somebody else: for us, whose tokens they would seem, for
 * another origin than is written there, or for the key of another resource.
 */
function requireAudience(audience: string, resourceKey: string, own: OwnHosts): void {
  const because = (rule: string) => refuse.invalid_request({ sentence: `The audience ${rule}` })
  const url = absoluteUri.test(audience) ? URL.parse(audience) : null
  if (!url) throw because('is an absolute URI without a fragment, such as https://api.example.com.')
  if (url.username !== '' || url.password !== '') throw because('has no user name or password.')
  if (url.origin !== 'null' && !hasPlainHost(url)) throw because('has a host of letters, digits, hyphens and dots.')
  if (url.origin !== 'null' && !startsWithOrigin(audience, url.origin))
    throw because(`starts with its origin as it is: ${url.origin}`)
  if (isOurs(url, own)) throw because('is a host of this service itself.')

  const name = withoutTrailingSlash(audience)
  if (isResourceKey(name) && name !== resourceKey) throw because('could be the key of another resource.')
}

function isOurs(url: URL, { baseUrl, authUrl, businessUrl }: OwnHosts): boolean {
  const hostname = url.hostname.replace(/\.$/, '')
  return [baseUrl, authUrl, businessUrl].some((ours) =>
    isLocal(ours) ? isLocal({ hostname }) && url.port === ours.port : hostname === ours.hostname,
  )
}
