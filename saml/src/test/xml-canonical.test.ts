import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { array, assert as check, constantFrom, letrec, oneof, property, record, string } from 'fast-check'
import { SignedXml } from 'xml-crypto'
import { provider } from '../testing/document.ts'
import { canonicalize } from '../xml-canonical.ts'
import { escapeXml, parseXml } from '../xml.ts'

type Written = { prefix: string; attributes: Record<string, string>; children: (Written | string)[] }

const character = constantFrom('a', '<', '>', '&', '"', '\t', '\n', '\r', ' ', 'é', '😀')
const prefix = constantFrom('', 'a', 'b', 'c')
const value = string({ unit: character })

const { element } = letrec<{ element: Written; text: string }>((tie) => ({
  text: value,
  element: record({
    prefix,
    attributes: record({ z: value, 'a:y': value, 'b:y': value, 'c:x': value }, { requiredKeys: [] }),
    children: array(oneof({ maxDepth: 4 }, tie('text'), tie('element')), { maxLength: 4 }),
  }),
}))

/** Declares prefixes with a meaning that changes with depth, so that they must be declared again, and back. */
function write({ prefix: own, attributes, children }: Written, depth = 0): string {
  const name = own === '' ? 'e' : `${own}:e`
  const declared = depth % 2 === 0 ? ['a', 'b', 'c'].map((each, n) => ` xmlns:${each}="urn:${(depth + n) % 4}"`) : []
  const unprefixed = depth % 3 === 0 ? ` xmlns="urn:d${depth}"` : ''
  const written = Object.entries(attributes).map(([each, text]) => ` ${each}="${escapeXml(text)}"`)
  const content = children.map((child) => (typeof child === 'string' ? escapeXml(child) : write(child, depth + 1)))
  return `<${name}${declared.join('')}${unprefixed}${written.join('')}>${content.join('')}</${name}>`
}

const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'

/** Returns the canonical form that the library signs. */
function digestByLibrary(document: string): string | undefined {
  const signer = new SignedXml({
    privateKey: provider.key,
    signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: exclusive,
  })
  const digestAlgorithm = 'http://www.w3.org/2001/04/xmlenc#sha256'
  signer.addReference({ xpath: '/*', transforms: [exclusive], digestAlgorithm })
  signer.computeSignature(document)
  return /<DigestValue>(.*)<\/DigestValue>/.exec(signer.getSignatureXml())?.[1]
}

test('the canonical form of any element equals that of the signature library', () => {
  check(
    property(element, (written) => {
      const text = write({ ...written, attributes: { ...written.attributes, Id: '_1' } })
      const digest = createHash('sha256')
        .update(canonicalize(parseXml(text), new Set()))
        .digest('base64')
      assert.equal(digest, digestByLibrary(text))
    }),
    { numRuns: 300 },
  )
})

test('prefixes that a signature includes are written where they are declared, used or not', () => {
  const read = parseXml('<a xmlns:p="urn:p" xmlns:q="urn:q"><b xmlns:p="urn:r"><c xmlns="urn:s"/></b></a>')
  assert.equal(
    canonicalize(read, new Set(['p', ''])),
    '<a xmlns:p="urn:p"><b xmlns:p="urn:r"><c xmlns="urn:s"></c></b></a>',
  )
})
