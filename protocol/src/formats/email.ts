import { limits } from './limits.ts'

const localPart = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/
const label = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/
const topLabel = /^[A-Za-z]/

/**
 * An address as HTML has it (§4.10.5.1.5), of a domain with a dot: without quotes or comments, and all of it ASCII, so
 * that it is one address wherever it is written.
 */
export function isEmail(text: string): boolean {
  const [name = '', domain = '', ...more] = text.split('@')
  const labels = domain.split('.')
  if (text.length > limits.emailCharactersMax || more.length > 0 || labels.length < 2) return false
  return isLocalPart(name) && labels.every((each) => label.test(each)) && topLabel.test(labels.at(-1) ?? '')
}

/** What may stand before the @: without quotes or comments. */
export function isLocalPart(text: string): boolean {
  return localPart.test(text)
}

/** The address with its domain in lower case; what stands before the @ is the domain's own business (RFC 5321 §2.4). */
export function normalizeEmail(text: string): string {
  const at = text.lastIndexOf('@')
  return text.slice(0, at) + text.slice(at).toLowerCase()
}
