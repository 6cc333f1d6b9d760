import AjvCompiler from '@fastify/ajv-compiler'
import SerializerSelector from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify'
import { normalizeMembers, normalizeParams } from './normalize.ts'
import { isUtf8 } from 'node:buffer'
import { countJsonColons, jsonMembersMax } from '@countersign/protocol/formats/json'
import { limits } from '@countersign/protocol/formats/limits'
import { defineErrors } from '#platform/api-error.ts'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

type Validate = ReturnType<FastifySchemaCompiler<object>>

const customOptions = { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } as const
/** All hosts share one compiler of validators, which compiles a schema once. */
const validators = once(() => AjvCompiler()({}, { customOptions }))
const serializers = once(() => SerializerSelector()())

/**
 * Compiles the schemas of an endpoint at its first request, with Fastify's compilers. Compiling all of them would make
 * the start half as long again, and many processes never need most of them.
 */
export function enableLazySchemaCompilation(app: FastifyInstance): void {
  app.setValidatorCompiler<object>((route) => {
    const { httpPart, schema } = route
    // A path contains only IDs. An invalid one is looked up in vain, so it is not a validation error.
    if (httpPart === 'params') return (params: unknown) => normalizeParams(params, schema) === undefined
    const compiled = once(() => validators()(route))
    const validate: Validate = (value) => {
      normalizeMembers(value, schema, nullClears(route))
      const valid = compiled()(value) === true
      validate.errors = compiled().errors ?? null
      return valid
    }
    return validate
  })
  app.setSerializerCompiler(({ httpStatus = '', ...route }) => {
    const compiled = once(() => serializers()({ httpStatus, ...route }))
    return (answer) => compiled()(answer)
  })
}

/** Checks whether null removes a value in requests to this endpoint. */
function nullClears({ method, url }: Parameters<FastifySchemaCompiler<object>>[0]): boolean {
  return method === 'PATCH' || url.endsWith('/apply') || url.startsWith('/scim/')
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

const errors = defineErrors({ invalid_request: [400, 'The request body cannot be parsed.'] })

/**
 * Parses a JSON body. Throws `invalid_request` for invalid JSON, excessive depth and characters that are not allowed.
 */
export function parseJson(text: string): unknown {
  if (text === '') return undefined
  const colons = countJsonColons(text)
  // Checked before parsing, which would take ten times as long for so many.
  if (colons > jsonMembersMax) throw errors.invalid_request({ sentence: 'The request body has too many members.' })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw errors.invalid_request({ sentence: 'The request body is not valid JSON.' })
  }
  requireWellFormedStrings(value)
  // Two parsers may use different ones. The text has a colon for each written member, the value has each member once.
  if (colons > countMembers(value))
    throw errors.invalid_request({ sentence: 'The request body repeats a member of an object.' })
  return value
}

/** Decodes a body as UTF-8. Throws `invalid_request` for other bytes, which two parsers may replace differently. */
export function requireUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw errors.invalid_request({ sentence: 'The request body is not valid UTF-8.' })
  return bytes.toString('utf8')
}

function countMembers(value: unknown): number {
  let count = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const part = open.pop()
    if (typeof part !== 'object' || part === null) continue
    const parts: unknown[] = Object.values(part)
    if (!Array.isArray(part)) count += parts.length
    for (const each of parts) open.push(each)
  }
  return count
}

/**
 * Parses `application/x-www-form-urlencoded` to an object of strings. The values of a repeated parameter in `several`
 * are joined by spaces. Another repeated parameter becomes a list of its first two values if the caller answers it
 * itself (`repeats`), and otherwise throws.
 */
export function parseForm(text: string, several: string[] = [], repeats = false): Record<string, string | string[]> {
  const form: Record<string, string | string[]> = {}
  let isReplaced = false
  for (const [name, sent] of new URLSearchParams(text)) {
    isReplaced ||= sent.includes(replacement) || name.includes(replacement)
    const earlier = Object.hasOwn(form, name) ? form[name] : undefined
    const isRepeated = earlier !== undefined && !several.includes(name)
    if (isRepeated && !repeats) throw errors.invalid_request({ sentence: 'A parameter is repeated.' })
    requireName(name)
    requireText(sent)
    if (typeof earlier === 'object') continue
    if (isRepeated) form[name] = [earlier, sent]
    if (!isRepeated) form[name] = earlier === undefined ? sent : `${earlier} ${sent}`
  }
  if (isReplaced) requireEncodedUtf8(text)
  return form
}

const replacement = '\ufffd'

/** Throws for percent-encoded bytes that are not UTF-8, which the platform would all replace by the same character. */
function requireEncodedUtf8(text: string): void {
  for (const [encoded] of text.matchAll(/(?:%[\da-f]{2})+/gi))
    if (!isUtf8(Buffer.from(encoded.replaceAll('%', ''), 'hex')))
      throw errors.invalid_request({ sentence: 'The request body is not valid UTF-8.' })
}

/** Returns a field by its standard or legacy name. If both are sent, their values must be equal. */
export function resolveFieldAlias(standard: string | undefined, legacy: string | undefined): string | undefined {
  if (standard !== undefined && legacy !== undefined && standard !== legacy)
    throw errors.invalid_request({ sentence: 'A field is sent under both of its names with different values.' })
  return standard ?? legacy
}

/**
 * Throws for values that would fail or change later: nesting that exhausts a stack, infinite numbers, keys that reach
 * prototypes, U+0000 and lone surrogates, which PostgreSQL cannot store.
 */
export function requireWellFormedStrings(value: unknown): void {
  if (isEmpty(value)) return
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limits.jsonDepthMax)
      throw errors.invalid_request({ sentence: 'The request body is nested too deeply.' })
    level = level.flatMap(soundParts)
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function soundParts(value: unknown): unknown[] {
  if (typeof value === 'string') requireText(value)
  if (typeof value === 'number' && !Number.isFinite(value))
    throw errors.invalid_request({ sentence: 'The request body has a number that is out of range.' })
  if (value === null || typeof value !== 'object') return []
  if (Array.isArray(value)) return value

  Object.keys(value).forEach(requireName)
  return Object.values(value)
}

function requireName(name: string): void {
  requireText(name)
  if (name === '__proto__')
    throw errors.invalid_request({ sentence: 'The request body has the key __proto__, which is not allowed.' })
}

function requireText(text: string): void {
  if (text.includes('\0') || !text.isWellFormed())
    throw errors.invalid_request({ sentence: 'The request body has a string with U+0000 or an unpaired surrogate.' })
}

const awaited = new WeakSet<Duplex>()

/**
 * Removes the time limit of a request's body, for a caller who is authorized to send a large one. All other bodies must
 * arrive in time, because a few slow callers could otherwise occupy every connection.
 */
export function exemptFromBodyTimeout(request: IncomingMessage): void {
  const { socket } = request
  awaited.add(socket)
  // The next request on this connection may be from another caller.
  request.once('close', () => awaited.delete(socket))
}

export function isExemptFromBodyTimeout(socket: Duplex): boolean {
  return awaited.has(socket)
}

/** Removes fields that the schema does not name from a body, at any depth, so that no handler uses them. */
export function keepNamed(value: unknown, schema: unknown): void {
  if (!isObject(value) || !isObject(schema)) return
  const { items, properties } = schema
  if (Array.isArray(value)) return value.forEach((item) => keepNamed(item, items))
  if (!isObject(properties)) return
  for (const name of Object.keys(value))
    if (Object.hasOwn(properties, name)) keepNamed(value[name], properties[name])
    else delete value[name]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
