import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import { isReservedScope, isResourceKey, isResourceScope } from '@countersign/protocol/formats/resource'
import type { NewResource, Resource, ResourceChange } from '@countersign/protocol/clients/resources'

/** A resource as a person writes it: scopes one a line, and after a space what each lets an app do. */
export type ResourceDraft = { displayName: string; resourceKey: string; audience: string; scopes: string }

export const emptyDraft: ResourceDraft = { displayName: '', resourceKey: '', audience: '', scopes: '' }

export function draftOf({ scopes, scopeDescriptions, ...resource }: Resource): ResourceDraft {
  const lines = scopes.map((scope) => `${scope} ${wordsFor(scope, scopeDescriptions)}`.trim())
  return { ...resource, scopes: lines.join('\n') }
}

export type ResourceFault = keyof ResourceDraft

/** The fields that cannot be right. What else may be wrong with them the server knows. */
export function faultsOf(draft: ResourceDraft): Set<ResourceFault> {
  const { displayName, resourceKey, audience, scopes } = newResourceOf(draft)
  const faults = new Set<ResourceFault>()
  if (!isDisplayName(displayName)) faults.add('displayName')
  if (!isResourceKey(resourceKey)) faults.add('resourceKey')
  if (!URL.canParse(audience) || audience.includes('#')) faults.add('audience')
  const isRight = scopes.length > 0 && scopes.length <= limits.scopesPerResourceMax
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

/** What a draft changes of a resource: only that is sent, since some of it asks for the passkey. */
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

/** A scope may have the name of what every object has. */
function wordsFor(scope: string, descriptions: Record<string, string>): string {
  return Object.hasOwn(descriptions, scope) ? (descriptions[scope] ?? '') : ''
}
