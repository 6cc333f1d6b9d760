import type { SeededRandom } from './chance.ts'
import type { Host, Operation, Schema } from '../operations.ts'

/** Valid values for the requests: existing ids, and valid bearer tokens. */
export type ValidInput = { values: Record<string, string>; bearers: Record<string, string[]> }
export type Nonsense = {
  host: Host
  method: string
  path: string
  headers: Record<string, string>
  body: string
}

const poison = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\ufeff',
  '\u202eelcatnuoc',
  '٣'.repeat(36),
  "' or 1=1 --",
  '"; drop table person; --',
  '$1',
  '%',
  '%00',
  '%ff%fe',
  '../../../etc/passwd',
  '<script>alert(1)</script>',
  'javascript:alert(1)',
  'data:text/html,x',
  'http://[::1',
  'https://user:password@evil.example/',
  'https://app.example/callback\r\nSet-Cookie: x=1',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  '1e400',
  '-0',
  '9007199254740993',
  '2147483648',
  '0001-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '{01890000-0000-7000-8000-000000000000}',
  '01890000-0000-7000-8000-00000000000',
  '01890000-0000-7000-8000-000000000000',
  'A'.repeat(8000),
  'é'.repeat(3000),
  `${'a'.repeat(5000)}!`,
  `${'a.'.repeat(5000)}@`,
  `cs_rt_${'A'.repeat(107)}`,
  `cs_code_${'A'.repeat(86)}AAAAAA`,
  'eyJhbGciOiJub25lIn0.e30.',
  'a.b.c',
  'a.b.c.d.e',
  'openid openid openid',
  'S256',
  'app_',
]
const otherTypes: unknown[] = [null, 0, -1, 1.5, 1e308, true, false, [], {}, [[]], ['a'], { a: 1 }, [null]]
const contentTypes = [
  'application/json',
  'application/json; charset=utf-16',
  'application/json\ta',
  'APPLICATION/JSON',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
  'application/xml',
  '*/*',
  '',
  ';',
  'application/jwt',
]
const oddHeaders: [string, string][] = [
  ['cookie', 'countersign=%00; countersign=%00'],
  ['cookie', 'a=b; '.repeat(500)],
  ['cookie', '=;;==;'],
  ['origin', 'null'],
  ['origin', 'http://localhost:4401'],
  ['origin', 'https://evil.example'],
  ['accept', 'text/html'],
  ['accept', '\xff'],
  ['accept-language', '*;q=9,,de-DE-u-co-phonebk;q=x'],
  ['accept-encoding', 'br;q=0, identity;q=0, *;q=0'],
  ['x-forwarded-for', `${'1.2.3.4, '.repeat(200)}::1`],
  ['x-forwarded-host', 'evil.example'],
  ['forwarded', 'for="[::1'],
  ['host', 'evil.example'],
  ['host', ''],
  ['if-none-match', '"'],
  ['if-modified-since', 'never'],
  ['range', 'bytes=9-1,-'],
  ['expect', '200-ok'],
  ['authorization', 'Basic '],
  ['authorization', `Basic ${Buffer.from('\0:\xff').toString('base64')}`],
  ['authorization', `Basic ${Buffer.from('%zz:%').toString('base64')}`],
  ['authorization', 'Bearer'],
  ['authorization', `Bearer ${'x'.repeat(7000)}`],
  ['authorization', 'Bearer eyJhbGciOiJub25lIn0.e30.'],
  ['access-control-request-method', 'DELETE'],
  ['user-agent', '\x9b[31m"\\'.repeat(100)],
  ['dpop', 'a.b.c'],
  ['x-request-id', '{"a":1}'],
]
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']

/** Creates a request to an operation of the interface with one error, several errors, or none. */
export function makeNonsense(chance: SeededRandom, operations: Operation[], validInput: ValidInput): Nonsense {
  const operation = chance.among(operations)
  const headers: Record<string, string> = {}
  const kind = chance.happens(0.9) ? operation.security : chance.among(Object.keys(validInput.bearers))
  const bearers = validInput.bearers[kind ?? '']
  if (bearers) headers['authorization'] = `Bearer ${chance.among(bearers)}`
  while (chance.happens(0.25)) Object.assign(headers, Object.fromEntries([chance.among(oddHeaders)]))
  const method = chance.happens(0.95) ? operation.method : chance.among(methods)
  const body = operation.body || chance.happens(0.1) ? makeBody(chance, operation.body ?? {}, validInput) : ''
  if (body !== '') headers['content-type'] = chance.happens(0.85) ? 'application/json' : chance.among(contentTypes)
  const path = makePath(chance, operation, validInput) + makeQuery(chance, operation, validInput)
  return { host: chance.happens(0.97) ? operation.host : 'auth', method, path, headers, body }
}

function makePath(chance: SeededRandom, { path, parameters }: Operation, validInput: ValidInput): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const given = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)
    return inUrl(
      chance,
      chance.happens(0.5) ? String(valid(chance, given?.schema ?? {}, name, validInput)) : chance.among(poison),
    )
  })
  if (chance.happens(0.95)) return filled
  const bend = chance.among<(path: string) => string>([
    (text) => text.toUpperCase(),
    (text) => `/${text}`,
    (text) => `${text}/`,
    (text) => `${text};a=b`,
    (text) => `${text}%2f..%2f..`,
    (text) => `/%2e%2e${text}`,
    (text) => `${text}%00`,
    (text) => `${text}%c3%28`,
    (text) => `${text}%`,
    (text) => `${text}/${'a/'.repeat(3000)}`,
    (text) => text.replaceAll('/', '\\'),
    (text) => `http://evil.example${text}`,
  ])
  return bend(filled)
}

function makeQuery(chance: SeededRandom, { parameters }: Operation, validInput: ValidInput): string {
  const pairs = parameters
    .filter((parameter) => parameter.in === 'query' && chance.happens(0.8))
    .map(({ name, schema }) => {
      const value = chance.happens(0.5) ? String(valid(chance, schema, name, validInput)) : chance.among(poison)
      return `${name}=${inUrl(chance, value)}`
    })
  if (pairs.length > 0 && chance.happens(0.1)) pairs.push(pairs[0] ?? '')
  if (chance.happens(0.05))
    pairs.push(chance.among(['a[b]=1', 'a[]=1', '%', '=', '&&&', '__proto__=1', 'a=%ff', 'a=1&'.repeat(2000)]))
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

/** Usually encodes it for a URL; otherwise leaves it as it is, as far as a request line can contain it. */
function inUrl(chance: SeededRandom, text: string): string {
  if (chance.happens(0.9)) return encodeURIComponent(text.toWellFormed())
  return text.replaceAll(/[^\x21-\xff]/g, '') || '-'
}

function makeBody(chance: SeededRandom, schema: Schema, validInput: ValidInput): string {
  if (chance.happens(0.03))
    return chance.among(['null', '[]', '"a"', '7', '{', '{"a":1,}', '[1', '\ufeff{}', '{"a":1e400}', '-', ' '])
  if (chance.happens(0.02)) return `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`
  if (chance.happens(0.01)) return JSON.stringify({ a: 'a'.repeat(70_000) })
  const value = valid(chance, schema, '', validInput)
  const fields = typeof value === 'object' && value !== null ? { ...value } : {}
  if (chance.happens(0.85)) bend(chance, fields)
  const text = JSON.stringify(fields)
  if (chance.happens(0.05)) return `{${JSON.stringify(Object.keys(fields)[0] ?? 'a')}:7,${text.slice(1)}`
  return chance.happens(0.02) ? text.slice(0, Math.floor(text.length * chance.next())) : text
}

/** Corrupts a field, at any depth. */
function bend(chance: SeededRandom, fields: Record<string, unknown>): void {
  const names = Object.keys(fields)
  if (names.length === 0 || chance.happens(0.15)) {
    fields[chance.among(['surplus', 'constructor', 'toString', 'id', 'client_id', 'userId', 'a'.repeat(2000)])] =
      chance.among(poison)
    return
  }
  const name = chance.among(names)
  const inner = fields[name]
  if (isObject(inner) && chance.happens(0.7)) return bend(chance, inner)
  if (chance.happens(0.15)) delete fields[name]
  if (chance.happens(0.4)) fields[name] = structuredClone(chance.among(otherTypes))
  if (chance.happens(0.6)) fields[name] = chance.among(poison)
  if (chance.happens(0.3)) bend(chance, fields)
}

/** Returns a value that the schema would probably accept. */
function valid(chance: SeededRandom, schema: Schema, name: string, validInput: ValidInput): unknown {
  if (schema.enum) return chance.among(schema.enum)
  if (schema.anyOf) return valid(chance, chance.among(schema.anyOf), name, validInput)
  const [type = 'string'] = [schema.type ?? 'string'].flat()
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, each]) => [key, valid(chance, each, key, validInput)]),
      )
    case 'array':
      return Array.from({ length: Math.max(schema.minItems ?? 0, 1) }, () =>
        valid(chance, schema.items ?? {}, name, validInput),
      )
    case 'integer':
    case 'number':
      return chance.among([0, 1, 60, 3600])
    case 'boolean':
      return chance.happens(0.5)
    default:
      return (
        validInput.values[name] ?? chance.among(['alice', 'a.b.c.d.e', 'A'.repeat(43), 'https://app.example/callback'])
      )
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
