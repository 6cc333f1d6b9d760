/** Scopes that every app may be allowed (interface §2); the default is `openid profile email offline_access`. */
export const standardScopes = ['openid', 'profile', 'email', 'offline_access', 'user_id', 'groups', 'roles'] as const
export type StandardScope = (typeof standardScopes)[number]

export const defaultAllowedScopes = ['openid', 'profile', 'email', 'offline_access'] as const

/** Scopes of an app with end-to-end encryption: the mode of its key, and its replacement. */
export const encryptionScopes = ['e2ee:symmetric', 'e2ee:asymmetric', 'e2ee:reset'] as const
export type EncryptionScope = (typeof encryptionScopes)[number]

/** Splits a space-separated list of scope tokens (RFC 6749 §3.3), which may repeat some. */
export function splitScope(list: string): string[] {
  return list.split(' ').filter((scope) => scope !== '')
}

/** Parses a space-separated list of scope tokens, without duplicates and in order (RFC 6749 §3.3). */
export function parseScope(list: string): string[] {
  return [...new Set(splitScope(list))]
}

export function isEncryptionScope(text: string): text is EncryptionScope {
  return encryptionScopes.some((scope) => scope === text)
}

/** Scope that a consent can contain. It never contains `e2ee:reset`: the user replaces the key in a separate step. */
export type ConsentScope = StandardScope | Exclude<EncryptionScope, 'e2ee:reset'>

export function isConsentScope(text: string): text is ConsentScope {
  return isStandardScope(text) || (isEncryptionScope(text) && text !== 'e2ee:reset')
}

export function isStandardScope(text: string): text is StandardScope {
  return standardScopes.some((scope) => scope === text)
}

/** Pattern of a resource key. */
export const resourceKeyPattern = '^[a-z0-9][a-z0-9._:-]{1,63}$'

/** Pattern of a scope-token (RFC 6749 §3.3) of at most 100 characters. */
export const resourceScopePattern = '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,100}$'

const resourceKey = new RegExp(resourceKeyPattern)
const resourceScope = new RegExp(resourceScopePattern)

export function isResourceKey(text: string): boolean {
  return resourceKey.test(text)
}

/** Removes the slashes at the end of an audience, which may be written with or without them. */
export function withoutTrailingSlash(audience: string): string {
  let end = audience.length
  while (audience[end - 1] === '/') end -= 1
  return audience.slice(0, end)
}

export function isResourceScope(text: string): boolean {
  return resourceScope.test(text)
}

/** Checks if a scope has a meaning for this provider, and therefore cannot be one of a resource. */
export function isReservedScope(scope: string): boolean {
  return isStandardScope(scope) || scope.startsWith('e2ee:')
}
