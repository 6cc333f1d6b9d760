import { normalizeDomain } from '../domain.ts'

/** Entries of the list of domains whose addresses can register. */
export const registrationDomainsMax = 100

const below = '*.'

/**
 * Normalizes an entry of a list of domains: a domain, or `*.` and a domain for those below it. Returns undefined for
 * any other text.
 */
export function normalizeDomainPattern(text: string): string | undefined {
  const isBelow = text.startsWith(below)
  const domain = normalizeDomain(isBelow ? text.slice(below.length) : text)
  return domain !== undefined && isBelow ? below + domain : domain
}

/**
 * Checks whether a normalized domain is in a list of normalized entries. A domain is equal to its entry, and
 * `*.example.org` contains every domain below example.org, but not example.org itself.
 */
export function isListedDomain(domain: string, patterns: readonly string[]): boolean {
  return patterns.some((each) => (each.startsWith(below) ? domain.endsWith(each.slice(1)) : domain === each))
}
