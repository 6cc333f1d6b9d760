/**
 * Writes the types of the SDK from the OpenAPI document of the service: to `sdk/src/shared/api-types.ts` the requests
 * and responses of the operations that it calls, and to `webhook-types.ts` beside it the bodies of webhooks. `--check`
 * fails when a file is stale.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { appEventTypes } from '@countersign/protocol/clients/webhook-events'
import { openApiDocument } from '../server/platform/process/openapi.ts'
import { at, inlineReferences, isRecord } from './references.ts'

const header = '// Written by `node tools/sdk-types.ts` from the OpenAPI document. Do not edit.'

const called = [
  ['post', '/api/signing/request'],
  ['get', '/api/signing/request/{requestId}/status'],
  ['get', '/api/encryption/app-lookup'],
] as const

/** The text of `openapi.ts` for these operations of a document. */
export function describeOperations(document: unknown, operations: readonly (readonly [string, string])[]): string {
  const entries = operations.map(([method, path]) => {
    const operation = inlineReferences(document, at(document, 'paths', path, method))
    const written = [...parametersOf(operation), ...bodyOf(operation), `answer: ${answerOf(operation)}`]
    return `${commentOf(at(operation, 'summary'))}'${method.toUpperCase()} ${path}': {\n${written.join('\n')}\n}`
  })
  return `${header}\n\n${indented(`export interface Operations {\n${entries.join('\n')}\n}`)}\n`
}

/** The text of the type of a webhook's body, for the events of a document. */
export function describeWebhooks(document: unknown, eventTypes: readonly string[]): string {
  const schemas = at(document, 'components', 'schemas')
  const events = Object.keys(isRecord(schemas) ? schemas : {})
    .map((name) => inlineReferences(document, at(schemas, name)))
    .filter((schema) => eventTypes.includes(String(listIn(at(schema, 'properties', 'type', 'enum') ?? [])[0])))
  const types = events.map((schema) => `${commentOf(at(schema, 'description'))}| ${typeOf(schema)}`)
  const type = indented(`export type WebhookEvent =\n${types.join('\n')}`)
  return `${header}\n\n/** Body of a webhook, whose signature is verified. */\n${type}\n`
}

function indented(code: string): string {
  let depth = 0
  const lines = code.split('\n').map((line) => {
    if (line.startsWith('}')) depth -= 1
    const written = '  '.repeat(depth) + line
    if (line.endsWith('{')) depth += 1
    return written
  })
  return lines.join('\n')
}

function parametersOf(operation: unknown): string[] {
  const parameters = listIn(at(operation, 'parameters'))
  return ['path', 'query'].flatMap((place) => {
    const own = parameters.filter((parameter) => at(parameter, 'in') === place)
    const fields = own.map((parameter) => {
      const optional = at(parameter, 'required') !== true
      return fieldOf(String(at(parameter, 'name')), at(parameter, 'schema'), optional)
    })
    return fields.length > 0 ? [`${place}: {\n${fields.join('\n')}\n}`] : []
  })
}

function bodyOf(operation: unknown): string[] {
  if (!isRecord(operation) || !('requestBody' in operation)) return []
  return [`body: ${bodyTypeOf(operation)}`]
}

function bodyTypeOf(operation: unknown): string {
  return typeOf(at(operation, 'requestBody', 'content', 'application/json', 'schema'))
}

function answerOf(operation: unknown): string {
  const responses = at(operation, 'responses')
  const success = Object.keys(isRecord(responses) ? responses : {}).find((status) => /^2\d\d$/.test(status))
  return typeOf(at(responses, success ?? '2XX', 'content', 'application/json', 'schema'))
}

/** TypeScript for a JSON schema, of the kinds that the called operations use. */
function typeOf(schema: unknown): string {
  if (!isRecord(schema)) throw new Error('The OpenAPI document has no schema where one was looked for')
  if ('anyOf' in schema) return listIn(schema['anyOf']).map(typeOf).join(' | ')
  if (Array.isArray(schema['enum'])) return schema['enum'].map((word) => `'${word}'`).join(' | ')
  if (Array.isArray(schema['type']))
    return schema['type'].map((type: unknown) => typeOf({ ...schema, type })).join(' | ')
  switch (schema['type']) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema['type']
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `(${typeOf(schema['items'])})[]`
    case 'object':
      return objectOf(schema)
    default:
      throw new Error(`tools/sdk-types.ts does not know this schema yet: ${JSON.stringify(schema)}`)
  }
}

function objectOf(schema: Record<string, unknown>): string {
  const { properties, required } = schema
  if (!isRecord(properties)) return 'Record<string, unknown>'
  const needed = listIn(required ?? [])
  const fields = Object.entries(properties).map(([name, each]) => fieldOf(name, each, !needed.includes(name)))
  return `{\n${fields.join('\n')}\n}`
}

function fieldOf(name: string, schema: unknown, optional: boolean): string {
  const written = typeOf(schema)
  return `${commentOf(at(schema, 'description'))}${name}${optional ? '?' : ''}: ${written}`
}

function commentOf(text: unknown): string {
  return typeof text === 'string' ? `/** ${text} */\n` : ''
}

function listIn(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error('The OpenAPI document has no list where one was looked for')
  return value
}

if (import.meta.main) {
  const nowhere = new URL('https://id.example')
  const hosts = { baseUrl: nowhere, authUrl: nowhere, businessUrl: nowhere }
  const document = openApiDocument({ ...hosts, developerPortal: false, demo: false })
  const written = {
    'api-types.ts': describeOperations(document, called),
    'webhook-types.ts': describeWebhooks(document, appEventTypes),
  }
  for (const [name, fresh] of Object.entries(written)) {
    const target = join(import.meta.dirname, '../sdk/src/shared', name)
    if (!process.argv.includes('--check')) writeFileSync(target, fresh)
    else if (!existsSync(target) || readFileSync(target, 'utf8') !== fresh) {
      console.error(`sdk/src/shared/${name} is stale: node tools/sdk-types.ts writes it anew`)
      process.exitCode = 1
    }
  }
}
