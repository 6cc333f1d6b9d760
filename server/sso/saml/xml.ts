/** An element of an XML document, with its names resolved. Text is whole: no comment or section divides it. */
export type XmlElement = {
  /** As written, with its prefix. */
  name: string
  localName: string
  namespace: string
  attributes: XmlAttribute[]
  /** The namespaces in scope for the element. */
  scope: XmlScope
  children: (XmlElement | string)[]
}

/**
 * Namespaces by prefix; the empty prefix is the default namespace. Holds the declarations of one element, and refers to
 * the scope around it: a copy per element would cost the square of the text.
 */
export type XmlScope = { declared: ReadonlyMap<string, string>; outer: XmlScope | undefined }

export type XmlAttribute = { name: string; localName: string; namespace: string; value: string }

/** What can't be read, and where. */
export class XmlError extends Error {}

const depthMax = 32
const elementsMax = 5000
/** Of one element, its namespace declarations included. */
const attributesMax = 64
/** Of a document. People in a thousand groups come with two thousand. */
const attributesOfDocumentMax = 5000
/**
 * Different namespace declarations of a document. Providers repeat the same ones on each value of an attribute; those
 * count once.
 */
const namespacesMax = 64

const xmlNamespace = 'http://www.w3.org/XML/1998/namespace'
const outermost: XmlScope = { declared: new Map([['xml', xmlNamespace]]), outer: undefined }
const named = new Map([
  ['lt;', '<'],
  ['gt;', '>'],
  ['amp;', '&'],
  ['quot;', '"'],
  ['apos;', "'"],
])

/** More than any reference takes that is allowed, with its semicolon. */
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
 * Reads a document of the part of XML 1.0 that SAML is written in: elements, attributes, text. What else there is
 * (document types, entities, comments, CDATA, processing instructions) says nothing here, and is what two readers read
 * differently: it is refused, and so is what XML or its namespaces forbid. The time it takes is linear in the length of
 * the text. Of a part that was taken out of another document, `outer` says what prefixes mean around it. Throws
 * `XmlError`.
 */
export function readXml(document: string, outer: XmlScope = outermost): XmlElement {
  const source = beginXml(document)
  const root = readElement(source, outer, 1)
  take(source, blank)
  if (source.at !== source.text.length) throw new XmlError('Something follows after its end')
  return root
}

/**
 * Reads the start tag of the root element alone, without its children: what a document is looked up by, before the rest
 * of it is worth reading. Throws `XmlError`.
 */
export function readXmlRoot(document: string): XmlElement {
  return readStartTag(beginXml(document), outermost).element
}

function beginXml(document: string): Source {
  // XML 1.0 §2.11: to whoever reads, every end of a line is one character.
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
  if (name === undefined) throw new XmlError(`What begins at character ${source.at} is no element`)
  source.elements += 1
  if (source.elements > elementsMax) throw new XmlError('It has too many elements')

  const written = readAttributes(source)
  const scope = extendScope(source, outer, written)
  const attributes = written.filter(isPlain).map((one) => ({ ...resolve(one.name, scope, ''), ...one }))
  const names = new Set(attributes.map(({ namespace, localName }) => `${namespace} ${localName}`))
  if (names.size !== attributes.length) throw new XmlError(`The element ${name} has an attribute twice`)

  const [, slash] = take(source, openingEnd) ?? []
  if (slash === undefined) throw new XmlError(`The element ${name} is not written as it must be`)
  const element = { name, ...resolve(name, scope, namespaceOf(scope, '') ?? ''), attributes, scope, children: [] }
  return { element, isEmpty: slash === '/' }
}

type Written = { name: string; value: string }

function readAttributes(source: Source): Written[] {
  const written: Written[] = []
  for (;;) {
    const [, name, double, single] = take(source, attribute) ?? []
    if (name === undefined) return written
    // XML 1.0 §3.3.3: an end of a line that is not written by its number is a space.
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
 * What prefixes mean within an element (Namespaces in XML 1.0). A namespace that is a relative address is refused, for
 * canonicalization fails on it and leaves nothing to compare.
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
      throw new XmlError('A prefix that is reserved is declared')
    if (!/^[a-z][a-z\d+.-]*:\S+$/i.test(value) && !(value === '' && prefix === ''))
      throw new XmlError(`The prefix ${prefix} stands for no namespace`)
    prefixes.add(prefix)
    source.namespaces.add(`${prefix} ${value}`)
    if ((namespaceOf(outer, prefix) ?? '') !== value) declared.set(prefix, value)
  }
  if (source.namespaces.size > namespacesMax) throw new XmlError('It declares too many namespaces')
  return declared.size === 0 ? outer : { declared, outer }
}

/** The prefix of a name; empty where it has none. */
export function prefixOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf(':')))
}

/** The namespace that a prefix stands for. Takes as many steps as elements are nested, 32 at most. */
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
  if (namespace === undefined) throw new XmlError(`The prefix ${first} stands for no namespace`)
  return { localName: second, namespace }
}

function readChildren(source: Source, { name, scope }: XmlElement, depth: number): XmlElement['children'] {
  const children: XmlElement['children'] = []
  for (;;) {
    const [text] = take(source, characters) ?? []
    if (text?.includes(']]>')) throw new XmlError('It has the end of a section that does not begin')
    if (text !== undefined) children.push(decode(text))
    const [, closed] = take(source, closing) ?? []
    if (closed === name) return children
    if (closed !== undefined) throw new XmlError(`The element ${name} is closed as ${closed}`)
    children.push(readElement(source, scope, depth + 1))
  }
}

/** Resolves references: to characters by number, and to the five that XML names. Stops at the first that is none. */
function decode(text: string): string {
  const parts: string[] = []
  let at = 0
  for (let begin = text.indexOf('&'); begin >= 0; begin = text.indexOf('&', at)) {
    const nearby = text.slice(begin + 1, begin + 1 + referenceCharactersMax)
    const reference = nearby.slice(0, nearby.indexOf(';') + 1)
    const found = named.get(reference) ?? numbered(reference)
    if (found === undefined) throw new XmlError('It has a reference to what XML does not name')
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

/** Writes an element as a document of its own, with all that its prefixes stand for. */
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

/** What prefixes stand for in `scope`, and not yet in `outer`, which it is in. */
function declaredSince(outer: XmlScope, scope: XmlScope): Map<string, string> {
  const within: XmlScope[] = []
  for (let at: XmlScope | undefined = scope; at && at !== outer; at = at.outer) within.unshift(at)
  const declared = new Map(within.flatMap((one) => [...one.declared]))
  return new Map([...declared].filter(([prefix, uri]) => (namespaceOf(outer, prefix) ?? '') !== uri))
}

/** Writes a text so that it may stand between the quotes of an attribute, or in an element, and is read again whole. */
export function escapeXml(text: string): string {
  return escapeText(text).replaceAll('"', '&quot;').replaceAll('\t', '&#9;').replaceAll('\n', '&#10;')
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;')
}

/** The elements directly in another. Throws `XmlError` where there is text between them. */
export function elementsOf({ name, children }: XmlElement): XmlElement[] {
  return children.flatMap((child) => {
    if (typeof child !== 'string') return [child]
    if (child.trim() !== '') throw new XmlError(`The element ${name} has text where elements belong`)
    return []
  })
}

/** The text of an element. Throws `XmlError` where it has elements. */
export function textOf({ name, children }: XmlElement): string {
  return children
    .map((child) => {
      if (typeof child !== 'string') throw new XmlError(`The element ${name} has elements where text belongs`)
      return child
    })
    .join('')
}

/** The value of an attribute without a namespace. */
export function attributeOf({ attributes }: XmlElement, name: string): string | undefined {
  return attributes.find((one) => one.name === name)?.value
}

/** The element itself, and all in it. */
export function everyElementOf(element: XmlElement): XmlElement[] {
  return [element, ...element.children.flatMap((child) => (typeof child === 'string' ? [] : everyElementOf(child)))]
}
