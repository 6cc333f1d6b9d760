import { pageLimits } from './registries/page-limits.ts'

const localPart = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/
const label = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/
const topLabel = /^[A-Za-z]/

/**
 * Checks an e-mail address as in HTML (§4.10.5.1.5), with a domain that has a dot: ASCII, without quotes and comments,
 * so that every system reads it as the same address.
 */
export function isEmail(text: string): boolean {
  const [name = '', domain = '', ...more] = text.split('@')
  const labels = domain.split('.')
  if (text.length > pageLimits.emailCharactersMax || more.length > 0 || labels.length < 2) return false
  return isLocalPart(name) && labels.every((each) => label.test(each)) && topLabel.test(labels.at(-1) ?? '')
}

/** Checks the part of an address before the @: without quotes and comments. */
export function isLocalPart(text: string): boolean {
  return localPart.test(text)
}

/** Converts the domain of an address to lower case; the part before the @ is up to the domain (RFC 5321 §2.4). */
export function normalizeEmail(text: string): string {
  const at = text.lastIndexOf('@')
  return text.slice(0, at) + text.slice(at).toLowerCase()
}

/** Parts of addresses, of which mail programs make links: URLs and mail addresses, host names, IPv4 addresses. */
const linked = [
  /\/\/|www\.|mailto:|\S@\S/iu,
  /[\p{L}\p{M}\p{N}\p{S}_-][.\u3002][\p{L}\p{M}]{2}/u,
  /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d)/u,
]

/** Returns whether a mail program may make a link of a part of a text. */
export function containsAddress(text: string): boolean {
  const folded = text.normalize('NFKC')
  return linked.some((pattern) => pattern.test(folded))
}
