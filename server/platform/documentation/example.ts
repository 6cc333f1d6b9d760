import { choicesIn, isSchema, resolve, type Schemas } from './schema.ts'

const fieldsMax = 40
const depthMax = 5

/** Values of text fields, by the end of the name. The first that fits is used. */
const texts: [RegExp, string][] = [
  [/email$/i, 'ada@example.com'],
  [/(?:handle|username)$/i, 'ada'],
  [/displayName$/i, 'Ada Lovelace'],
  [/(?:client_?id)$/i, 'app_85f93669162989cc207c0996290ce3ce'],
  [/(?:redirect_?uri|redirectUris)$/i, 'https://app.example/callback'],
  [/(?:url|uri|uris)$/i, 'https://app.example/'],
  [/scopes?$/i, 'openid profile'],
  [/domain$/i, 'example.com'],
  [/name$/i, 'My app'],
]

/**
 * Returns bodies that an operation accepts, once they have real values: the examples of the schema, or one body of the
 * fields that it requires. Not all the others may be sent by each caller, or together.
 */
export function examplesOf(schema: unknown, schemas: Schemas): [unknown, ...unknown[]] {
  const { own } = resolve(schema, schemas)
  const [first, ...others] = listIn(own['examples'])
  if (first !== undefined) return [first, ...others]
  if (!isSchema(own['properties'])) return [exampleOf(own, schemas)]
  const names = Object.keys(own['properties'])
  const required = listIn(own['required'])
  const shown = required.length > 0 ? names.filter((name) => required.includes(name)) : names.slice(0, 1)
  const { properties } = own
  return [Object.fromEntries(shown.map((name) => [name, exampleOf(properties[name], schemas, name, 1)]))]
}

/** Returns an example of a value that fits a schema closely enough to show its shape. */
export function exampleOf(schema: unknown, schemas: Schemas, name = '', depth = 0): unknown {
  const { own } = resolve(schema, schemas)
  const [ownExample] = listIn(own['examples'])
  if (ownExample !== undefined) return ownExample
  const [choice] = choicesIn(own)
  if (choice !== undefined) return exampleOf(choice, schemas, name, depth)
  if (Array.isArray(own['enum'])) return own['enum'][0]
  const [type] = [own['type']].flat()
  switch (type) {
    case 'object':
      return objectOf(own['properties'], schemas, depth)
    case 'array':
      return depth >= depthMax ? [] : [exampleOf(own['items'], schemas, name, depth + 1)]
    case 'string':
      return textOf(own, name)
    case 'integer':
    case 'number':
      return typeof own['minimum'] === 'number' ? Math.max(own['minimum'], 1) : 1
    case 'boolean':
      return true
    default:
      return null
  }
}

function objectOf(properties: unknown, schemas: Schemas, depth: number): Record<string, unknown> {
  if (!isSchema(properties) || depth >= depthMax) return {}
  const shown = Object.entries(properties).slice(0, fieldsMax)
  return Object.fromEntries(shown.map(([name, each]) => [name, exampleOf(each, schemas, name, depth + 1)]))
}

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf({ format, pattern, maxLength }: Record<string, unknown>, name: string): string {
  if (format === 'date-time') return '2026-11-22T13:41:00.000Z'
  if (format === 'uuid' || String(pattern).startsWith('^[0-9a-f]{8}-')) return '3f1c9a2b-7d54-4e0a-9b1f-0c2d6e8a4b13'
  const [, text] = texts.find(([end]) => end.test(name)) ?? []
  return text === undefined || text.length > Number(maxLength ?? text.length) ? '…' : text
}
