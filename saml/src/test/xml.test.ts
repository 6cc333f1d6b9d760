import assert from 'node:assert/strict'
import { test } from 'node:test'
import { array, assert as check, constantFrom, letrec, oneof, property, record, string } from 'fast-check'
import { attributeOf, escapeXml, textOf, parseXml, writeXml, XmlError } from '../xml.ts'

type Written = { prefix: string; name: string; value: string; children: (Written | string)[] }

const character = constantFrom('a', 'b', '<', '>', '&', '"', "'", '\t', '\n', '\r', ' ', 'é', '安', '😀', ']')

/**
 * Generates elements as other writers produce them; a prefix is declared where it is used, with changing namespaces.
 */
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

test('a parsed and serialized document parses to the same elements', () => {
  check(
    property(element, (written) => {
      const read = parseXml(write(written))
      assert.deepEqual(parseXml(writeXml(read)), read)
    }),
    { numRuns: 300 },
  )
})

test('escaped text is parsed back unchanged, in attributes and in elements', () => {
  for (const text of ['', ' ', 'a\tb\nc', '"<&>\'', ']]>', '&amp;', 'a\r\nb', '😀']) {
    const read = parseXml(`<a b="${escapeXml(text)}">${escapeXml(text)}</a>`)
    assert.deepEqual([attributeOf(read, 'b'), textOf(read)], [text, text])
  }
})

test('names are resolved in their scope', () => {
  const { children } = parseXml(
    '<a xmlns="urn:1" xmlns:p="urn:2"><p:b p:c="" d=""/><b xmlns=""/><p:b xmlns:p="urn:3"/></a>',
  )
  const names = children.map((child) => (typeof child === 'string' ? child : `${child.namespace} ${child.localName}`))
  assert.deepEqual(names, ['urn:2 b', ' b', 'urn:3 b'])
})

test('invalid XML is rejected with its problem, and with no other error', () => {
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
    assert.throws(() => parseXml(text), XmlError, text)
})
