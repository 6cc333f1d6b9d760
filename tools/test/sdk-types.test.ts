import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeOperations } from '../sdk-types.ts'

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const text = { type: 'string' }

function documentOf(answer: object) {
  const post = {
    summary: 'Send a parcel',
    parameters: [
      { name: 'parcelId', in: 'path', required: true, schema: { ...text, description: 'A UUID' } },
      { name: 'speed', in: 'query', required: false, schema: { $ref: '#/components/schemas/Speed' } },
    ],
    requestBody: json({
      type: 'object',
      required: ['weight'],
      properties: { weight: { type: 'integer' }, contents: { type: 'object' }, seals: { type: 'array', items: text } },
    }),
    responses: { 201: json(answer), '4XX': json({ type: 'object' }) },
  }
  return {
    paths: { '/parcel/{parcelId}': { post } },
    components: { schemas: { Speed: { type: 'string', enum: ['fast', 'slow'] } } },
  }
}

test('an operation says what it takes and what it answers', () => {
  const answer = { type: 'object', required: ['sentAt'], properties: { sentAt: { type: ['string', 'null'] } } }
  assert.equal(
    describeOperations(documentOf(answer), [['post', '/parcel/{parcelId}']]),
    `// Written by \`node tools/sdk-types.ts\` from the OpenAPI document. Do not edit.

export interface Operations {
  /** Send a parcel */
  'POST /parcel/{parcelId}': {
    path: {
      /** A UUID */
      parcelId: string
    }
    query: {
      speed?: 'fast' | 'slow'
    }
    body: {
      weight: number
      contents?: Record<string, unknown>
      seals?: (string)[]
    }
    answer: {
      sentAt: string | null
    }
  }
}
`,
  )
})

test('an operation that is not there, and a schema that it does not know, stop it', () => {
  const operations = [['post', '/parcel/{parcelId}']] as const
  assert.throws(() => describeOperations({ paths: {} }, operations))
  assert.throws(() => describeOperations(documentOf({ oneOf: [] }), operations), /does not know this schema yet/)
})
