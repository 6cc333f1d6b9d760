import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { isReservedScope, isResourceKey, isResourceScope } from '@countersign/protocol/formats/scope'
import type { NewResource, Resource, ResourceChange } from '@countersign/protocol/clients/resources'
import { urlLengthMax } from '../../../lib/uris/web-urls.ts'

/** The input for a resource. Scopes are one per line, each followed by a space and its description. */
export type ResourceDraft = { displayName: string; resourceKey: string; audience: string; scopes: string }

export const emptyDraft: ResourceDraft = { displayName: '', resourceKey: '', audience: '', scopes: '' }

export function draftOf({ scopes, scopeDescriptions, ...resource }: Resource): ResourceDraft {
  const lines = scopes.map((scope) => `${scope} ${wordsFor(scope, scopeDescriptions)}`.trim())
  return { ...resource, scopes: lines.join('\n') }
}

/** The length that the service stores. */
const scopeDescriptionLengthMax = 200

export type ResourceFault = keyof ResourceDraft

/** Returns the fields that are certainly invalid. The server does the other checks. */
export function faultsOf(draft: ResourceDraft): Set<ResourceFault> {
  const { displayName, resourceKey, audience, scopes, scopeDescriptions } = newResourceOf(draft)
  const faults = new Set<ResourceFault>()
  if (!isDisplayName(displayName)) faults.add('displayName')
  if (!isResourceKey(resourceKey)) faults.add('resourceKey')
  const isAudience = URL.canParse(audience) && !audience.includes('#') && audience.length <= urlLengthMax
  if (!isAudience) faults.add('audience')
  const areShort = Object.values(scopeDescriptions).every(({ length }) => length <= scopeDescriptionLengthMax)
  const isRight = areShort && scopes.length > 0 && scopes.length <= pageLimits.scopesPerResourceMax
  if (!isRight || !scopes.every((scope) => isResourceScope(scope) && !isReservedScope(scope))) faults.add('scopes')
  return faults
}

export function newResourceOf({ displayName, resourceKey, audience, scopes: text }: ResourceDraft) {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/))
  const described = new Map(lines.map(([scope = '', ...words]) => [scope, words.join(' ')]))
  described.delete('')
  return {
    displayName: displayName.trim(),
    resourceKey: resourceKey.trim(),
    audience: audience.trim(),
    scopes: [...described.keys()],
    scopeDescriptions: Object.fromEntries([...described].filter(([, words]) => words !== '')),
  } satisfies NewResource
}

/** Returns the fields that a draft changes. Only these are sent, because some require re-authentication. */
export function changeOf(resource: Resource, draft: ResourceDraft): ResourceChange {
  const { displayName, audience, scopes, scopeDescriptions } = newResourceOf(draft)
  const hasOtherScopes =
    scopes.join(' ') !== resource.scopes.join(' ') ||
    scopes.some((scope) => wordsFor(scope, scopeDescriptions) !== wordsFor(scope, resource.scopeDescriptions))
  return {
    ...(displayName !== resource.displayName && { displayName }),
    ...(audience !== resource.audience && { audience }),
    ...(hasOtherScopes && { scopes, scopeDescriptions }),
  }
}

/** Reads own properties only, because a scope may be called like an inherited one. */
function wordsFor(scope: string, descriptions: Record<string, string>): string {
  return Object.hasOwn(descriptions, scope) ? (descriptions[scope] ?? '') : ''
}
