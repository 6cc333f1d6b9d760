import { namespaceOf, prefixOf, type XmlAttribute, type XmlElement, type XmlScope } from './xml.ts'

/** Namespaces already written for an element and its ancestors, by prefix. */
type Rendered = { declared: ReadonlyMap<string, string>; outer: Rendered | undefined }

/**
 * Writes the canonical form of an element (Exclusive XML Canonicalization 1.0 §3) in linear time. `included` lists the
 * prefixes of `InclusiveNamespaces`, which are written wherever they are in scope.
 */
export function canonicalize(element: XmlElement, included: ReadonlySet<string>): string {
  const written: string[] = []
  const apex = new Set(scopesIn(element.scope).flatMap(({ declared }) => [...declared.keys()]))
  write(element, { declared: new Map([['', '']]), outer: undefined }, { included, declared: apex }, written)
  return written.join('')
}

/**
 * Writes the namespaces of an element. `declared` lists the prefixes that can be new here: at the root all in scope,
 * below it those of the element.
 */
type Context = { included: ReadonlySet<string>; declared: Iterable<string> }

function write(element: XmlElement, outer: Rendered, { included, declared }: Context, written: string[]): void {
  const { name, attributes, scope, children } = element
  const used = [name, ...attributes.flatMap((one) => (one.name.includes(':') ? [one.name] : []))].map(prefixOf)
  const prefixes = new Set([...used, ...[...declared].filter((prefix) => included.has(prefix))])
  const added = new Map(
    [...prefixes].flatMap((prefix) => {
      const namespace = namespaceOf(scope, prefix) ?? ''
      return prefix === 'xml' || namespaceOf(outer, prefix) === namespace ? [] : [[prefix, namespace]]
    }),
  )
  written.push(`<${name}`)
  for (const [prefix, namespace] of [...added].toSorted(([a], [b]) => compare(a, b)))
    written.push(prefix === '' ? ' xmlns' : ` xmlns:${prefix}`, `="${escapeAttribute(namespace)}"`)
  for (const one of attributes.toSorted(compareAttributes)) written.push(` ${one.name}="${escapeAttribute(one.value)}"`)
  written.push('>')
  const rendered = added.size === 0 ? outer : { declared: added, outer }
  for (const child of children)
    if (typeof child === 'string') written.push(escapeText(child))
    else
      write(child, rendered, { included, declared: child.scope === scope ? [] : child.scope.declared.keys() }, written)
  written.push(`</${name}>`)
}

function scopesIn(scope: XmlScope): XmlScope[] {
  return scope.outer ? [scope, ...scopesIn(scope.outer)] : [scope]
}

/** Compares by namespace, then by local name; attributes without a namespace come first. */
function compareAttributes(a: XmlAttribute, b: XmlAttribute): number {
  return compare(a.namespace, b.namespace) || compare(a.localName, b.localName)
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

function escapeAttribute(text: string): string {
  return text.replaceAll(/[&<"\t\n\r]/g, (character) => references.get(character) ?? character)
}

function escapeText(text: string): string {
  return text.replaceAll(/[&<>\r]/g, (character) => references.get(character) ?? character)
}

/** Escapes text as in Canonical XML 1.0 §2.3. */
const references = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ['\t', '&#x9;'],
  ['\n', '&#xA;'],
  ['\r', '&#xD;'],
])
