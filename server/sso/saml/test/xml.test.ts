import assert from 'node:assert/strict'
import { test } from 'node:test'
import { array, assert as check, constantFrom, letrec, oneof, property, record, string } from 'fast-check'
import { attributeOf, escapeXml, textOf, readXml, writeXml, XmlError } from '#sso/saml/xml.ts'

type Written = { prefix: string; name: string; value: string; children: (Written | string)[] }

const character = constantFrom('a', 'b', '<', '>', '&', '"', "'", '\t', '\n', '\r', ' ', 'é', '安', '😀', ']')

/** Elements as others may write them; a prefix is declared where it is used, each time as something else. */
const { element } = letrec<{ element: Written; text: string }>((tie) => ({
  text: string({ unit: character }),
  element: record({
    prefix: constantFrom('', 'a', 'b.c-d'),
    name: constantFrom('x', 'Assertion', '_y'),
    value: string({ unit: character }),
    children: array(oneof({ maxDepth: 5 }, tie('text'), tie('element')), { maxLength: 4 }),
  }),
}))

function write({ prefix, name, value, children }: Written, depth = 0): string {
  const tag = prefix === '' ? name : `${prefix}:${name}`
  const declared = `xmlns${prefix === '' ? '' : `:${prefix}`}="urn:n${depth % 3}"`
  const attribute = `v="${escapeXml(value)}"`
  const content = children.map((child) => (typeof child === 'string' ? escapeXml(child) : write(child, depth + 1)))
  return `<${tag} ${declared} ${attribute}>${content.join('')}</${tag}>`
}

test('what is read and written is read again as it was', () => {
  check(
    property(element, (written) => {
      const read = readXml(write(written))
      assert.deepEqual(readXml(writeXml(read)), read)
    }),
    { numRuns: 300 },
  )
})

test('what is escaped is read again whole, in an attribute and in an element', () => {
  for (const text of ['', ' ', 'a\tb\nc', '"<&>\'', ']]>', '&amp;', 'a\r\nb', '😀']) {
    const read = readXml(`<a b="${escapeXml(text)}">${escapeXml(text)}</a>`)
    assert.deepEqual([attributeOf(read, 'b'), textOf(read)], [text, text])
  }
})

test('names are resolved where they stand', () => {
  const { children } = readXml(
    '<a xmlns="urn:1" xmlns:p="urn:2"><p:b p:c="" d=""/><b xmlns=""/><p:b xmlns:p="urn:3"/></a>',
  )
  const names = children.map((child) => (typeof child === 'string' ? child : `${child.namespace} ${child.localName}`))
  assert.deepEqual(names, ['urn:2 b', ' b', 'urn:3 b'])
})

test('what is no XML is refused with what is wrong, and with nothing else', () => {
  const texts = [
    '',
    'a',
    '<',
    '<a',
    '<a>',
    '<a/',
    '</a>',
    '<a></b>',
    '<a b/>',
    '<a b=c/>',
    '<a b="1"c="2"/>',
    '<a b="<"/>',
    '<1/>',
  ]
  for (const text of [...texts, '<a/>b', '<a/><a/>', '<a>&</a>', '<a>&#x110000;</a>', '<a>&#xg;</a>', '<a:/>', '<:a/>'])
    assert.throws(() => readXml(text), XmlError, text)
})
