/** An element of an XML document with resolved names. Its text is complete: no comment or CDATA section divides it. */
export type XmlElement = {
  /** The name as written, with its prefix. */
  name: string
  localName: string
  namespace: string
  attributes: XmlAttribute[]
  /** Namespaces in scope for the element. */
  scope: XmlScope
  children: (XmlElement | string)[]
}

/**
 * Namespaces by prefix; the empty prefix is the default namespace. A scope holds the declarations of one element and
 * refers to its parent scope. A copy for each element would take quadratic space.
 */
export type XmlScope = { declared: ReadonlyMap<string, string>; outer: XmlScope | undefined }

export type XmlAttribute = { name: string; localName: string; namespace: string; value: string }

/** A parse error with its position. */
export class XmlError extends Error {}

const depthMax = 32
const elementsMax = 5000
/** Limit per element, including namespace declarations. */
const attributesMax = 64
/** Limit per document. A user in a thousand groups needs two thousand elements. */
const attributesOfDocumentMax = 5000
/**
 * Limit of distinct namespace declarations in a document. Providers repeat the same declarations on each attribute
 * value; those count once.
 */
const namespacesMax = 64
/** Limit per namespace: the canonical form repeats a namespace for each element that uses it. */
const namespaceCharactersMax = 256

const xmlNamespace = 'http://www.w3.org/XML/1998/namespace'
const outermost: XmlScope = { declared: new Map([['xml', xmlNamespace]]), outer: undefined }
const named = new Map([
  ['lt;', '<'],
  ['gt;', '>'],
  ['amp;', '&'],
  ['quot;', '"'],
  ['apos;', "'"],
])

/** Longer than any allowed reference, including its semicolon. */
const referenceCharactersMax = 11

const declaration = new RegExp(
  [
    String.raw`<\?xml\s+version\s*=\s*(["'])1\.0\1`,
    String.raw`(?:\s+encoding\s*=\s*(["'])[Uu][Tt][Ff]-8\2)?`,
    String.raw`(?:\s+standalone\s*=\s*(["'])(?:yes|no)\3)?\s*\?>`,
  ].join(''),
  'y',
)
const blank = /[ \t\n]*/y
const opening = /<((?:[A-Za-z_][\w.-]*:)?[A-Za-z_][\w.-]*)/y
const attribute = /[ \t\n]+((?:[A-Za-z_][\w.-]*:)?[A-Za-z_][\w.-]*)[ \t\n]*=[ \t\n]*(?:"([^"<]*)"|'([^'<]*)')/y
const openingEnd = /[ \t\n]*(\/?)>/y
const closing = /<\/([\w.:-]+)[ \t\n]*>/y
const characters = /[^<]+/y
const notACharacter = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u

/**
 * Parses the subset of XML 1.0 that SAML uses: elements, attributes, text. Document types, entities, comments, CDATA
 * and processing instructions are rejected, because two readers can interpret them differently. Violations of XML and
 * of its namespaces are rejected too. The time is linear in the length of the text. For a part taken from another
 * document, `outer` is its namespace scope. Throws `XmlError`.
 */
export function parseXml(document: string, outer: XmlScope = outermost): XmlElement {
  const source = beginXml(document)
  const root = readElement(source, outer, 1)
  take(source, blank)
  if (source.at !== source.text.length) throw new XmlError('It has content after its end')
  return root
}

/**
 * Parses only the start tag of the root element, without children, for a lookup before the rest is parsed. Throws
 * `XmlError`.
 */
export function readXmlRoot(document: string): XmlElement {
  return readStartTag(beginXml(document), outermost).element
}

function beginXml(document: string): Source {
  // XML 1.0 §2.11: every line end is read as one character.
  const text = document.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n')
  if (notACharacter.test(text)) throw new XmlError('It has characters that XML does not allow')
  const source = { text, at: 0, elements: 0, attributes: 0, namespaces: new Set<string>() }
  take(source, declaration)
  take(source, blank)
  return source
}

type Source = { text: string; at: number; elements: number; attributes: number; namespaces: Set<string> }

function take(source: Source, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = source.at
  const found = pattern.exec(source.text)
  if (!found) return undefined
  source.at = pattern.lastIndex
  return found
}

function readElement(source: Source, outer: XmlScope, depth: number): XmlElement {
  if (depth > depthMax) throw new XmlError('It has elements nested too deeply')
  const { element, isEmpty } = readStartTag(source, outer)
  if (!isEmpty) element.children = readChildren(source, element, depth)
  return element
}

function readStartTag(source: Source, outer: XmlScope): { element: XmlElement; isEmpty: boolean } {
  const [, name] = take(source, opening) ?? []
  if (name === undefined) throw new XmlError(`Content at character ${source.at} is not an element`)
  source.elements += 1
  if (source.elements > elementsMax) throw new XmlError('It has too many elements')

  const written = parseAttributes(source)
  const scope = extendScope(source, outer, written)
  const attributes = written.filter(isPlain).map((one) => ({ ...resolve(one.name, scope, ''), ...one }))
  const names = new Set(attributes.map(({ namespace, localName }) => `${namespace} ${localName}`))
  if (names.size !== attributes.length) throw new XmlError(`The element ${name} has a repeated attribute`)

  const [, slash] = take(source, openingEnd) ?? []
  if (slash === undefined) throw new XmlError(`The element ${name} has invalid syntax`)
  const element = { name, ...resolve(name, scope, namespaceOf(scope, '') ?? ''), attributes, scope, children: [] }
  return { element, isEmpty: slash === '/' }
}

type Written = { name: string; value: string }

function parseAttributes(source: Source): Written[] {
  const written: Written[] = []
  for (;;) {
    const [, name, double, single] = take(source, attribute) ?? []
    if (name === undefined) return written
    // XML 1.0 §3.3.3: a literal line end is read as a space.
    const value = decode((double ?? single ?? '').replaceAll(/[\t\n]/g, ' '))
    written.push({ name, value })
    source.attributes += 1
    if (written.length > attributesMax || source.attributes > attributesOfDocumentMax)
      throw new XmlError('An element has too many attributes')
  }
}

function isPlain({ name }: Written): boolean {
  return name !== 'xmlns' && !name.startsWith('xmlns:')
}

/**
 * Returns the namespace scope of an element (Namespaces in XML 1.0). A relative namespace URI is rejected, because
 * canonicalization fails on it.
 */
function extendScope(source: Source, outer: XmlScope, written: Written[]): XmlScope {
  const declarations = written.filter((one) => !isPlain(one))
  if (declarations.length === 0) return outer
  const declared = new Map<string, string>()
  const prefixes = new Set<string>()
  for (const { name, value } of declarations) {
    const prefix = name.slice('xmlns:'.length)
    if (prefixes.has(prefix)) throw new XmlError(`The prefix ${prefix} is declared twice`)
    if (prefix === 'xml' || prefix === 'xmlns' || value === xmlNamespace || value === 'http://www.w3.org/2000/xmlns/')
      throw new XmlError('A reserved prefix is declared')
    if (value.length > namespaceCharactersMax) throw new XmlError('A namespace is too long')
    if (!/^[a-z][a-z\d+.-]*:\S+$/i.test(value) && !(value === '' && prefix === ''))
      throw new XmlError(`The prefix ${prefix} has no namespace`)
    prefixes.add(prefix)
    source.namespaces.add(`${prefix} ${value}`)
    if ((namespaceOf(outer, prefix) ?? '') !== value) declared.set(prefix, value)
  }
  if (source.namespaces.size > namespacesMax) throw new XmlError('It declares too many namespaces')
  return declared.size === 0 ? outer : { declared, outer }
}

/** Returns the prefix of a name, or an empty string. */
export function prefixOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf(':')))
}

/** Resolves the namespace of a prefix. Takes at most as many steps as elements are nested, 32. */
export function namespaceOf(scope: XmlScope, prefix: string): string | undefined {
  for (let at: XmlScope | undefined = scope; at; at = at.outer) {
    const namespace = at.declared.get(prefix)
    if (namespace !== undefined) return namespace
  }
  return undefined
}

function resolve(name: string, scope: XmlScope, unprefixed: string) {
  const [first = '', second] = name.split(':')
  if (second === undefined) return { localName: first, namespace: unprefixed }
  const namespace = namespaceOf(scope, first)
  if (namespace === undefined) throw new XmlError(`The prefix ${first} has no namespace`)
  return { localName: second, namespace }
}

function readChildren(source: Source, { name, scope }: XmlElement, depth: number): XmlElement['children'] {
  const children: XmlElement['children'] = []
  for (;;) {
    const [text] = take(source, characters) ?? []
    if (text?.includes(']]>')) throw new XmlError('It has the end of a CDATA section without a start')
    if (text !== undefined) children.push(decode(text))
    const [, closed] = take(source, closing) ?? []
    if (closed === name) return children
    if (closed !== undefined) throw new XmlError(`The element ${name} is closed as ${closed}`)
    children.push(readElement(source, scope, depth + 1))
  }
}

/** Resolves character references and the five predefined entities. Stops at the first other reference. */
function decode(text: string): string {
  const parts: string[] = []
  let at = 0
  for (let begin = text.indexOf('&'); begin >= 0; begin = text.indexOf('&', at)) {
    const nearby = text.slice(begin + 1, begin + 1 + referenceCharactersMax)
    const reference = nearby.slice(0, nearby.indexOf(';') + 1)
    const found = named.get(reference) ?? numbered(reference)
    if (found === undefined) throw new XmlError('It has a reference that XML does not predefine')
    parts.push(text.slice(at, begin), found)
    at = begin + 1 + reference.length
  }
  return [...parts, text.slice(at)].join('')
}

function numbered(reference: string): string | undefined {
  const [, decimal, hexadecimal] = /^#(?:(\d+)|x([\da-fA-F]+));$/.exec(reference) ?? []
  return characterOf(Number.parseInt(decimal ?? hexadecimal ?? '', decimal === undefined ? 16 : 10))
}

function characterOf(number: number): string | undefined {
  if (!(number <= 0x10ffff)) return undefined
  const character = String.fromCodePoint(number)
  return notACharacter.test(character) ? undefined : character
}

/** Writes an element as a document of its own, with all namespace declarations in scope. */
export function writeXml(element: XmlElement): string {
  return writeElement(element, outermost)
}

function writeElement({ name, attributes, scope, children }: XmlElement, outer: XmlScope): string {
  const declared = [...declaredSince(outer, scope)]
  const written = [
    ...declared.map(([prefix, uri]) => ({ name: prefix === '' ? 'xmlns' : `xmlns:${prefix}`, value: uri })),
    ...attributes,
  ].map((one) => ` ${one.name}="${escapeXml(one.value)}"`)
  const content = children.map((child) => (typeof child === 'string' ? escapeText(child) : writeElement(child, scope)))
  return `<${name}${written.join('')}>${content.join('')}</${name}>`
}

/** Returns the prefixes declared in `scope` that its ancestor `outer` does not declare. */
function declaredSince(outer: XmlScope, scope: XmlScope): Map<string, string> {
  const within: XmlScope[] = []
  for (let at: XmlScope | undefined = scope; at && at !== outer; at = at.outer) within.unshift(at)
  const declared = new Map(within.flatMap((one) => [...one.declared]))
  return new Map([...declared].filter(([prefix, uri]) => (namespaceOf(outer, prefix) ?? '') !== uri))
}

/** Escapes text for an attribute value or element content. */
export function escapeXml(text: string): string {
  return escapeText(text).replaceAll('"', '&quot;').replaceAll('\t', '&#9;').replaceAll('\n', '&#10;')
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;')
}

/** Returns the child elements. Throws `XmlError` if there is text between them. */
export function elementsOf({ name, children }: XmlElement): XmlElement[] {
  return children.flatMap((child) => {
    if (typeof child !== 'string') return [child]
    if (child.trim() !== '') throw new XmlError(`The element ${name} has text between its elements`)
    return []
  })
}

/** Returns the text of an element. Throws `XmlError` if it has child elements. */
export function textOf({ name, children }: XmlElement): string {
  return children
    .map((child) => {
      if (typeof child !== 'string') throw new XmlError(`The element ${name} has elements instead of text only`)
      return child
    })
    .join('')
}

/** Returns the value of an attribute without a namespace. */
export function attributeOf({ attributes }: XmlElement, name: string): string | undefined {
  return attributes.find((one) => one.name === name)?.value
}

/** Lists the element and all its descendants. */
export function everyElementOf(element: XmlElement): XmlElement[] {
  return [element, ...element.children.flatMap((child) => (typeof child === 'string' ? [] : everyElementOf(child)))]
}
