import { uuidPattern } from '@countersign/protocol/values'

/** No id of ours: it is looked up, not found, and answered as the route answers that. */
const unknownId = '-'
const unknownUuid = '00000000-0000-0000-0000-000000000000'
const uuid = new RegExp(uuidPattern)

/**
 * Normalizes the parameters of a path in place: UUIDs are lower-cased, and what cannot be an id becomes one that
 * nothing has. Every parameter of a path is an id.
 */
export function normalizeParams(params: unknown, schema: unknown): void {
  for (const [name, value, described] of membersOf(params, schema)) {
    if (typeof value !== 'string' || !isObject(params)) continue
    if (isUuidSchema(described)) params[name] = knownUuid(value)
    else if (!fits(value, described)) params[name] = unknownId
  }
}

/**
 * Normalizes a body or query in place, as far as its schema names it: `null` and empty texts are taken out, for they
 * count as absent, unless `nullClears`; UUIDs are lower-cased. An `identityId` that is no UUID is one that nobody has.
 */
export function normalizeMembers(value: unknown, schema: unknown, nullClears: boolean): void {
  if (Array.isArray(value) && isObject(schema)) {
    for (const item of value) normalizeMembers(item, schema['items'], nullClears)
    return
  }
  for (const [name, member, described] of membersOf(value, schema)) {
    if (!isObject(value)) continue
    if (!nullClears && isAbsent(member, described)) delete value[name]
    else if (typeof member === 'string' && variantsOf(described).some(isUuidSchema))
      value[name] = name === 'identityId' ? knownUuid(member) : member.toLowerCase()
    else for (const variant of variantsOf(described)) normalizeMembers(member, variant, nullClears)
  }
}

/** The members of an object that its schema names. */
function membersOf(value: unknown, schema: unknown): [name: string, value: unknown, described: unknown][] {
  const properties = isObject(schema) ? schema['properties'] : undefined
  if (!isObject(value) || !isObject(properties)) return []
  return Object.entries(value).flatMap(([name, member]) =>
    Object.hasOwn(properties, name) ? [[name, member, properties[name]]] : [],
  )
}

/** A schema that says that a text may have no character means it (`AnyText`). */
function isAbsent(member: unknown, schema: unknown): boolean {
  return member === null || (member === '' && !(isObject(schema) && schema['minLength'] === 0))
}

function variantsOf(schema: unknown): unknown[] {
  return isObject(schema) && Array.isArray(schema['anyOf']) ? schema['anyOf'] : [schema]
}

function isUuidSchema(schema: unknown): boolean {
  return isObject(schema) && schema['pattern'] === uuidPattern
}

function knownUuid(text: string): string {
  const lower = text.toLowerCase()
  return uuid.test(lower) ? lower : unknownUuid
}

/** Whether a text fits what a schema says of texts; U+0000 fits nothing, for no database holds it. */
function fits(text: string, schema: unknown): boolean {
  if (!isObject(schema) || text.includes('\0')) return false
  const { pattern, minLength, maxLength } = schema
  if (typeof minLength === 'number' && text.length < minLength) return false
  if (typeof maxLength === 'number' && text.length > maxLength) return false
  // regexp: patterns of schemas are checked where they are written
  return typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
