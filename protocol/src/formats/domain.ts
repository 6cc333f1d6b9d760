import { isLocalPart } from './email.ts'
import { limits } from './limits.ts'

/** What means something else in a URL than a part of its host, what a URL drops unasked, and escapes of any of it. */
const notOfHost = /[\s\p{Cc}/?#@:\\%[\]]/u
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const topLabel = /^[a-z]/

/**
 * The one spelling of a domain name: ASCII, lower case, no dot at its end; other scripts as UTS #46 has them. Nothing
 * where the text is no domain name with a dot in it, such as an IP address. Two domains are the same if these are.
 */
export function normalizeDomain(text: string): string | undefined {
  if (notOfHost.test(text)) return undefined
  const domain = URL.parse(`https://${text}`)?.hostname.replace(/\.$/, '') ?? ''
  const labels = domain.split('.')
  if (labels.length < 2 || domain.length > limits.domainCharactersMax) return undefined
  return labels.every((each) => label.test(each)) && topLabel.test(labels.at(-1) ?? '') ? domain : undefined
}

/** The domain of an e-mail address, likewise; nothing where the address is quoted, commented or not one address. */
export function domainOfEmail(email: string): string | undefined {
  const [name = '', domain = '', ...more] = email.split('@')
  return more.length === 0 && isLocalPart(name) ? normalizeDomain(domain) : undefined
}

/** Where whoever owns a domain shows that they do: the name of a TXT record. */
export function challengeNameOf(domain: string): string {
  return `_countersign-challenge.${domain}`
}
