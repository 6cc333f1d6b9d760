import { test } from 'node:test'
import assert from 'node:assert/strict'
import { limits } from '@countersign/protocol/formats/limits'
import { parseSamlMetadata, requireRequestId, verifySamlCallback } from '#sso/providers/saml.ts'
import { parseXml } from '@countersign/saml/xml'
import { costlyMetadata, costlyResponses, costlyXml, encryptedFor, signedResponses } from '#testing/costly-saml.ts'
import { measureCost, objectionTo, repeated, type MeasuredParser, type Shapes } from '#testing/parser-cost.ts'
import { connection, findKeys, now, provider, requestId, successor } from '@countersign/saml/testing/document'

const { samlResponseBytesMax, samlMetadataBytesMax } = limits
const base64 = (text: string) => Buffer.from(text).toString('base64')
const inBase64 = (shapes: Shapes): Shapes =>
  Object.fromEntries(Object.entries(shapes).map(([what, build]) => [what, (size: number) => base64(build(size))]))

/** Connection with the maximum of certificates; the correct one is tried last. */
const certificates = [...Array<string>(9).fill(successor.certificate), provider.certificate]
const crowded = { ...connection, identityProvider: { ...connection.identityProvider, certificates } }

/** All parsers of untrusted input with their most expensive inputs. New ones need a row here. */
const parsers: Record<string, MeasuredParser> = {
  'PRS-01 the XML reader': { sizeMax: samlResponseBytesMax, parse: (text) => parseXml(text), shapes: costlyXml },
  'PRS-01 a SAML response': {
    sizeMax: samlResponseBytesMax,
    parse: (samlResponse) => verifySamlCallback(crowded, { samlResponse, requestId, findKeys }, now),
    shapes: inBase64({ ...costlyXml, ...costlyResponses }),
  },
  'PRS-01 a SAML response that the provider has signed': {
    sizeMax: samlResponseBytesMax,
    parse: (samlResponse) => verifySamlCallback(crowded, { samlResponse, requestId, findKeys }, now),
    shapes: inBase64(signedResponses),
    authenticated: true,
    millisecondsMax: 150,
  },
  'PRS-01 an encrypted assertion': {
    sizeMax: Math.floor(samlResponseBytesMax * 0.7),
    parse: (samlResponse) => verifySamlCallback(crowded, { samlResponse, requestId, findKeys }, now),
    shapes: inBase64(encryptedFor({ ...costlyXml, ...costlyResponses })),
  },
  'PRS-01 the request that a SAML response answers': {
    sizeMax: samlResponseBytesMax,
    parse: requireRequestId,
    shapes: { ...inBase64({ ...costlyXml, ...costlyResponses }), 'white space': repeated('  \r\n') },
  },
  'PRS-02 SAML metadata': {
    sizeMax: samlMetadataBytesMax,
    parse: (text) => parseSamlMetadata(text, now),
    shapes: { ...costlyXml, ...costlyMetadata },
    authenticated: true,
  },
}

test('SML-23 the most expensive responses of a provider are measured with their verification', async () => {
  const largest = Object.entries(signedResponses).filter(([shape]) => shape.startsWith('as many'))
  assert.ok(largest.length > 0)
  for (const [, build] of largest) {
    const samlResponse = base64(build(samlResponseBytesMax))
    const { subject } = await verifySamlCallback(crowded, { samlResponse, requestId, findKeys }, now)
    assert.equal(subject, 'ann-7f3c')
  }
})

for (const [parser, measured] of Object.entries(parsers))
  test(parser.includes('signed') ? `SML-23 ${parser}` : parser, async (t) => {
    for (const [shape, build] of Object.entries(measured.shapes))
      await t.test(shape, async () => {
        const cost = await measureCost(measured, build)
        assert.equal(objectionTo(cost, measured), undefined)
      })
  })
