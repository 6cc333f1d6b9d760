import { test } from 'node:test'
import assert from 'node:assert/strict'
import { limits } from '@countersign/protocol/formats/limits'
import { finishSaml, readRequestId } from '#sso/saml/response.ts'
import { readIdentityProviderMetadata } from '#sso/saml/metadata.ts'
import { readXml } from '#sso/saml/xml.ts'
import { costlyMetadata, costlyResponses, costlyXml, encryptedFor, signedResponses } from '#testing/costly-saml.ts'
import { measureCost, objectionTo, repeated, type MeasuredParser, type Shapes } from '#testing/parser-cost.ts'
import { connection, findKeys, now, provider, requestId, successor } from '#sso/saml/corpus/document.ts'

const { samlResponseBytesMax, samlMetadataBytesMax } = limits
const base64 = (text: string) => Buffer.from(text).toString('base64')
const inBase64 = (shapes: Shapes): Shapes =>
  Object.fromEntries(Object.entries(shapes).map(([what, build]) => [what, (size: number) => base64(build(size))]))

/** A connection with as many certificates as one may have; the right one is tried last. */
const certificates = [...Array<string>(9).fill(successor.certificate), provider.certificate]
const crowded = { ...connection, identityProvider: { ...connection.identityProvider, certificates } }

/** Every parser of untrusted input: a new one is a row here, with the inputs that might cost it most. */
const parsers: Record<string, MeasuredParser> = {
  'PRS-01 the XML reader': { sizeMax: samlResponseBytesMax, parse: (text) => readXml(text), shapes: costlyXml },
  'PRS-01 a SAML response': {
    sizeMax: samlResponseBytesMax,
    parse: (samlResponse) => finishSaml(crowded, { samlResponse, requestId, findKeys }, now),
    shapes: inBase64({ ...costlyXml, ...costlyResponses }),
  },
  'PRS-01 a SAML response that the provider has signed': {
    sizeMax: samlResponseBytesMax,
    parse: (samlResponse) => finishSaml(crowded, { samlResponse, requestId, findKeys }, now),
    shapes: inBase64(signedResponses),
    authenticated: true,
    millisecondsMax: 150,
  },
  'PRS-01 an encrypted assertion': {
    sizeMax: Math.floor(samlResponseBytesMax * 0.7),
    parse: (samlResponse) => finishSaml(crowded, { samlResponse, requestId, findKeys }, now),
    shapes: inBase64(encryptedFor({ ...costlyXml, ...costlyResponses })),
  },
  'PRS-01 the request that a SAML response answers': {
    sizeMax: samlResponseBytesMax,
    parse: readRequestId,
    shapes: { ...inBase64({ ...costlyXml, ...costlyResponses }), 'white space': repeated('  \r\n') },
  },
  'PRS-02 SAML metadata': {
    sizeMax: samlMetadataBytesMax,
    parse: (text) => readIdentityProviderMetadata(text, now),
    shapes: { ...costlyXml, ...costlyMetadata },
    authenticated: true,
  },
}

for (const [parser, measured] of Object.entries(parsers))
  test(parser.includes('signed') ? `SML-23 ${parser}` : parser, async (t) => {
    for (const [shape, build] of Object.entries(measured.shapes))
      await t.test(shape, async () => {
        const cost = await measureCost(measured, build)
        assert.equal(objectionTo(cost, measured.authenticated), undefined)
        const { millisecondsMax = Infinity } = measured
        assert.ok(Math.min(...cost.full) < millisecondsMax, `It takes ${Math.min(...cost.full)} ms`)
      })
  })
