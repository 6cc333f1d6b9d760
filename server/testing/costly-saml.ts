import { assertion, attribute, attributes, response, sign, stranger, swap } from '@countersign/saml/testing/document'
import { limits } from '@countersign/protocol/formats/limits'
import { encrypt } from '@countersign/saml/testing/encryption'
import { between, type Shapes } from './parser-cost.ts'

const named = (count: number, attribute: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => ` ${attribute(n)}`).join('')
const declared = named(50, (n) => `xmlns:n${n}="u:${n}"`)
const text = 'x'.repeat(20)

/** As many elements, attributes and namespaces as the parser accepts, and far more. */
const contents: Record<string, string> = {
  'elements beside one another': `<b>${text}</b>`,
  'more elements than are read': '<b/>',
  'elements in one another': `${'<b>'.repeat(25)}${text.repeat(25)}${'</b>'.repeat(25)}`,
  attributes: `<b${named(10, (n) => `a${n}="${text}"`)}/>`,
  'more attributes than are read': `<b${named(60, (n) => `a${n}=""`)}/>`,
  'attributes of many namespaces': `<b${named(20, (n) => `n${n}:a="${text}"`)}/>`,
  'elements of many namespaces': named(20, (n) => `<n${n}:b>${text}</n${n}:b>`),
  'a namespace declared again': `<b xmlns="a:b">${text}</b>`,
  'a namespace declared otherwise and back': `<c:b xmlns:c="a:b"><c:b xmlns:c="a:c">${text}</c:b></c:b>`,
  references: '&amp;',
  'references to line ends': '&#13;',
  'greater-than signs': '>',
  'ends of sections': ']]>',
}

const perContent = (whole: (content: string) => string): Shapes =>
  Object.fromEntries(Object.entries(contents).map(([what, unit]) => [what, between(whole, unit)]))

/** 31 nested elements with 63 namespaces each, and as many declarations as fit in the innermost one. */
const manyNamespaces = (content: string) => {
  const open = Array.from({ length: 30 }, (_, depth) => `<a${named(63, (n) => `xmlns:p${depth}.${n}="u:${n}"`)}>`)
  return `${open.join('')}${content}${'</a>'.repeat(30)}`
}

export const costlyXml: Shapes = {
  ...perContent((content) => `<a${declared}>${content}</a>`),
  'namespaces in each of 30 elements': between(manyNamespaces, '<a xmlns:z="a:b"/>'),
  'blanks in a tag': between((content) => `<a${content}`, ' '),
  'blanks before an equals sign': between((content) => `<a b${content}`, ' '),
  'a name without an end': between((content) => `<a:${content}`, 'b.'),
  'a value of references': between((content) => `<a b="${content}"/>`, '&#9;'),
  'a value without an end': between((content) => `<a b="${content}`, '&amp;'),
  'tags that open': between((content) => content, '<a>'),
  ampersands: between((content) => `<a>${content}</a>`, '&'),
  'blanks in a declaration': between((content) => `<?xml version="1.0"${content}`, ' '),
  'line ends of two characters': between((content) => `<a>${content}</a>`, '\r\n'),
}

/** Response signed by the provider, whose assertion was changed afterwards, with room for content. */
const changed = sign(response(assertion({ more: ' x=""' })), '_r1').replace(' x=""', '')
const widened = (whole: string, content: string) => swap(whole, '</saml:Assertion>', `${content}</saml:Assertion>`)
const transform = '<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>'
const including = (prefixes: string) =>
  transform.replace('/>', () => `><i:InclusiveNamespaces xmlns:i="u:i" PrefixList="${prefixes}"/></ds:Transform>`)

const longDeclared = named(50, (n) => `xmlns:n${n}="u:${n}.${text.repeat(12)}"`)
const longNames = named(5, (n) => `<n${5 * n}:b n${5 * n + 1}:a="" n${5 * n + 2}:a=""/>`)

export const costlyResponses: Shapes = {
  ...perContent((content) => widened(changed, `<c${declared}>${content}</c>`)),
  'a long namespace of many elements': (size) =>
    widened(changed, `<c xmlns:n="u:${text.repeat(size / 40)}">${'<n:b/>'.repeat(size / 30)}</c>`),
  // As many as the parser accepts at the largest size.
  'the longest namespaces, in elements and attributes': (size) =>
    widened(changed, `<c${longDeclared}>${longNames.repeat((480 * size) / limits.samlResponseBytesMax)}</c>`),
  'a signature of a stranger': between(
    (content) => sign(widened(response(assertion()), content), '_r1', { by: stranger }),
    `<b>${text}</b>`,
  ),
  'prefixes to be included': between((content) => swap(changed, transform, including(content)), 'q '),
  'a long value of a signature': between(
    (content) => swap(changed, '<ds:SignatureValue>', `<ds:SignatureValue>${content}`),
    'A\n',
  ),
  'a long digest': between((content) => swap(changed, '<ds:DigestValue>', `<ds:DigestValue>${content}`), 'A&#13;'),
}

/** Content that the provider itself has signed, which the library verifies too. */
const twiceSigned = (content: string) => sign(sign(response(assertion({ attributes: content })), '_a1'), '_r1')
const value = `<saml:AttributeValue>${text}</saml:AttributeValue>`
const groupsOf = (values: string) =>
  `<saml:AttributeStatement><saml:Attribute Name="groups">${values}</saml:Attribute></saml:AttributeStatement>`

/** Repeats a part up to the number that is passed to the library twice, if they fit. */
const upToTheLimit = (unit: string) => (size: number) => {
  const room = Math.floor((size - 10_000) / unit.length)
  const elements = unit.match(/<\w/g)?.length ?? 0
  const attributes = unit.match(/ [\w:]+=/g)?.length ?? 0
  const count = Math.min(
    room,
    Math.floor((limits.samlSignedElementsMax - 60) / elements),
    Math.floor((limits.samlSignedAttributesMax - 90) / attributes),
  )
  return twiceSigned(groupsOf(value.replace(text, `<c${declared}>${unit.repeat(count)}</c>`)))
}

/** Adds unsigned content to the last signature, whose KeyInfo no other signature covers. */
const inKeyInfo = (whole: string, content: string) => {
  const [before = '', ...after] = whole.split('<ds:KeyInfo>')
  return [before, content + after.join('<ds:KeyInfo>')].join('<ds:KeyInfo>')
}

/** The elements beside the groups are those of the response, the assertion and both signatures. */
const mostGroups = twiceSigned(groupsOf(value.repeat(limits.samlSignedElementsMax - 60)))

export const signedResponses: Shapes = {
  'as many groups as are read, signed twice': () => mostGroups,
  // With the rest of the elements that the parser accepts.
  'as many groups as are read, and an unsigned KeyInfo': (size) =>
    inKeyInfo(mostGroups, '<b a=""/>'.repeat(Math.floor((3900 * size) / limits.samlResponseBytesMax))),
  'as many elements as are read with two attributes each': upToTheLimit('<b a="" b=""/>'),
  'as many declarations as are read, which no name uses': upToTheLimit(
    `<b${named(8, (n) => `xmlns:n${n}="v:${n}"`)}/><b/>`,
  ),
  'groups, signed twice': between((content) => twiceSigned(groupsOf(content)), value),
  ...Object.fromEntries(
    Object.entries(contents).map(([what, unit]) => [`${what}, as many as are verified`, upToTheLimit(unit)]),
  ),
  'elements beside one another': between(
    (content) => sign(response(assertion({ attributes: attribute('groups', '') + content })), '_a1'),
    attributes.replaceAll(/email|ann@/g, () => 'x'),
  ),
}

/** Encrypts the same to our key, as anyone can. */
export function encryptedFor(shapes: Shapes): Shapes {
  return Object.fromEntries(
    Object.entries(shapes).map(([what, build]) => [what, (size: number) => response(encrypt(build(size)))]),
  )
}

const metadata = (content: string) =>
  `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.acme.example/">${content}`

export const costlyMetadata: Shapes = {
  'comments without an end': between(metadata, '<!--'),
  'beginnings of comments': between(metadata, '<!-'),
  comments: between(metadata, '<!---->'),
  'ends of comments': between(metadata, '-->'),
  'a comment of hyphens': between((content) => `<!--${content}`, '-'),
}
