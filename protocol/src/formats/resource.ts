import { isStandardScope } from './scope.ts'

/** What a resource may be called. */
export const resourceKeyPattern = '^[a-z0-9][a-z0-9._:-]{1,63}$'

/** A scope-token (RFC 6749 §3.3) of at most 100 characters. */
export const resourceScopePattern = '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,100}$'

const resourceKey = new RegExp(resourceKeyPattern)
const resourceScope = new RegExp(resourceScopePattern)

export function isResourceKey(text: string): boolean {
  return resourceKey.test(text)
}

/** An audience without the slashes at its end, which it may be written with or without. */
export function withoutTrailingSlash(audience: string): string {
  let end = audience.length
  while (audience[end - 1] === '/') end -= 1
  return audience.slice(0, end)
}

export function isResourceScope(text: string): boolean {
  return resourceScope.test(text)
}

/** Whether a scope means something to us, and so can't mean another thing at a resource. */
export function isReservedScope(scope: string): boolean {
  return isStandardScope(scope) || scope.startsWith('e2ee:')
}
