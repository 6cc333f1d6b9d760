import { type XmlElement, XmlError, elementsOf } from './xml.ts'

/** Namespaces of SAML 2.0 and its base standards, by the prefixes used in the standards. */
export const namespaces = {
  saml: 'urn:oasis:names:tc:SAML:2.0:assertion',
  samlp: 'urn:oasis:names:tc:SAML:2.0:protocol',
  md: 'urn:oasis:names:tc:SAML:2.0:metadata',
  ds: 'http://www.w3.org/2000/09/xmldsig#',
  xenc: 'http://www.w3.org/2001/04/xmlenc#',
  xenc11: 'http://www.w3.org/2009/xmlenc11#',
} as const

export const bindings = {
  post: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
  redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
} as const

const nameIdFormat = (version: '1.1' | '2.0', name: string) =>
  `urn:oasis:names:tc:SAML:${version}:nameid-format:${name}`

/** NameID formats that are stable for one user, and that a user can have here. */
export const nameIdFormats = {
  persistent: nameIdFormat('2.0', 'persistent'),
  emailAddress: nameIdFormat('1.1', 'emailAddress'),
  unspecified: nameIdFormat('1.1', 'unspecified'),
} as const

const prefixes = new Map<string, string>(Object.entries(namespaces).map(([prefix, uri]) => [uri, prefix]))

type Name = `${keyof typeof namespaces}:${string}`
type Count = 'one' | 'maybe' | 'any'
type Part<Often> = Often extends 'one' ? XmlElement : Often extends 'maybe' ? XmlElement | undefined : XmlElement[]

/** Returns the name of an element with the standard prefix, whatever prefix the document uses. */
export function qualifiedName({ localName, namespace }: XmlElement): string {
  return `${prefixes.get(namespace) ?? namespace}:${localName}`
}

/**
 * Returns the child elements by name, each with the allowed number of occurrences. Elements that are not in the table
 * are rejected, because unread content must not be present. Throws `XmlError`.
 */
export function expectChildren<const Table extends Record<Name, Count>>(
  element: XmlElement,
  table: Table,
): { [Called in keyof Table]: Part<Table[Called]> }
export function expectChildren(element: XmlElement, table: Record<string, Count>) {
  const found = Object.groupBy(elementsOf(element), qualifiedName)
  const foreign = Object.keys(found).find((name) => !Object.hasOwn(table, name))
  if (foreign !== undefined) throw new XmlError(`${qualifiedName(element)} has a ${foreign}`)
  const parts: Record<string, XmlElement | XmlElement[] | undefined> = {}
  for (const [name, often] of Object.entries(table)) {
    const [first, ...more] = found[name] ?? []
    if (often !== 'any' && more.length > 0) throw new XmlError(`${qualifiedName(element)} has more than one ${name}`)
    if (often === 'one' && !first) throw new XmlError(`${qualifiedName(element)} has no ${name}`)
    parts[name] = often === 'any' ? (found[name] ?? []) : first
  }
  return parts
}

/** A SAML 2.0 identity provider, and this service's registration there. */
export type SamlConnection = ServiceProvider & { identityProvider: SamlIdentityProvider }

/** Stored metadata of an identity provider; the certificates are PEM. */
export type SamlIdentityProvider = { entityId: string; ssoUrl: string; certificates: string[] }

export type ServiceProvider = {
  /** Entity ID of this service provider, which is also the URL of its metadata. */
  entityId: string
  /** URL of the assertion consumer service. */
  acsUrl: string
}
