import { isLocalPart } from './email.ts'
import { pageLimits } from './registries/page-limits.ts'

/** Characters with another meaning in a URL, characters that URL parsers remove, and escapes of any. */
const notOfHost = /[\s\p{Cc}/?#@:\\%[\]]/u
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const topLabel = /^[a-z]/

/**
 * Normalizes a domain name to its only spelling: ASCII, lower case, without a final dot; other scripts by UTS #46.
 * Returns undefined for a text that is not a domain name with a dot, such as an IP address. Two domains are equal if
 * their normalized forms are.
 */
export function normalizeDomain(text: string): string | undefined {
  if (notOfHost.test(text)) return undefined
  const domain = URL.parse(`https://${text}`)?.hostname.replace(/\.$/, '') ?? ''
  const labels = domain.split('.')
  if (labels.length < 2 || domain.length > pageLimits.domainCharactersMax) return undefined
  return labels.every((each) => label.test(each)) && topLabel.test(labels.at(-1) ?? '') ? domain : undefined
}

/**
 * Returns the normalized domain of an e-mail address; undefined if the address is quoted, has comments, or is not
 * exactly one address.
 */
export function domainOfEmail(email: string): string | undefined {
  const [name = '', domain = '', ...more] = email.split('@')
  return more.length === 0 && isLocalPart(name) ? normalizeDomain(domain) : undefined
}

/**
 * Checks whether browsers treat two URLs as one site, within which they send the session cookie: the scheme and the
 * last two labels of the hosts are equal. Without the Public Suffix List, it accepts too much rather than too little.
 */
export function isSameSite(one: URL, other: URL): boolean {
  return one.protocol === other.protocol && sharesParent(one.hostname, other.hostname)
}

function sharesParent(one: string, other: string): boolean {
  if (one === other) return true
  return !isAddress(one) && parentOf(one) === parentOf(other)
}

/** Checks for an IP address: a URL has IPv6 in brackets, and no other host ends with a number. */
function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || !topLabel.test(hostname.split('.').at(-1) ?? '')
}

function parentOf(hostname: string): string {
  return hostname.split('.').slice(-2).join('.')
}

/** Returns the name of the TXT record that proves control of a domain. */
export function challengeNameOf(domain: string): string {
  return `_countersign-challenge.${domain}`
}

/** Pattern of a slug: it is part of URLs, so it is plain and never begins or ends with a hyphen. */
export const slugPattern = '^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$'

const fallback = 'workspace'

/** Derives a slug from a name. */
export function slugify(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
  return (
    trimHyphens(trimHyphens(plain).slice(0, pageLimits.slugCharactersMax - pageLimits.slugSuffixCharacters)) || fallback
  )
}

/** Two hyphens are never adjacent here. */
function trimHyphens(text: string): string {
  return text.replaceAll(/^-|-$/g, '')
}
