import { XmlError, elementsOf, type XmlElement } from './xml.ts'

/** The namespaces of SAML 2.0 and of what it builds on, by the prefixes that the standards write. */
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

/** The forms of a name that stays with one person, and that a person can have here. */
export const nameIdFormats = {
  persistent: nameIdFormat('2.0', 'persistent'),
  emailAddress: nameIdFormat('1.1', 'emailAddress'),
  unspecified: nameIdFormat('1.1', 'unspecified'),
} as const

const prefixes = new Map<string, string>(Object.entries(namespaces).map(([prefix, uri]) => [uri, prefix]))

type Name = `${keyof typeof namespaces}:${string}`
type Count = 'one' | 'maybe' | 'any'
type Part<Often> = Often extends 'one' ? XmlElement : Often extends 'maybe' ? XmlElement | undefined : XmlElement[]

/** The name of an element as the standard writes it, whatever prefix the document uses. */
export function nameOf({ localName, namespace }: XmlElement): string {
  return `${prefixes.get(namespace) ?? namespace}:${localName}`
}

/**
 * The elements directly in another, by name, and each as often as the table allows. Anything that the table does not
 * name is refused: what is not read must not be there. Throws `XmlError`.
 */
export function partsOf<const Table extends Record<Name, Count>>(
  element: XmlElement,
  table: Table,
): { [Called in keyof Table]: Part<Table[Called]> }
export function partsOf(element: XmlElement, table: Record<string, Count>) {
  const found = Object.groupBy(elementsOf(element), nameOf)
  const foreign = Object.keys(found).find((name) => !Object.hasOwn(table, name))
  if (foreign !== undefined) throw new XmlError(`${nameOf(element)} has a ${foreign}`)
  const parts: Record<string, XmlElement | XmlElement[] | undefined> = {}
  for (const [name, often] of Object.entries(table)) {
    const [first, ...more] = found[name] ?? []
    if (often !== 'any' && more.length > 0) throw new XmlError(`${nameOf(element)} has more than one ${name}`)
    if (often === 'one' && !first) throw new XmlError(`${nameOf(element)} has no ${name}`)
    parts[name] = often === 'any' ? (found[name] ?? []) : first
  }
  return parts
}
