import { uuidPattern } from '@countersign/protocol/values'

/** A valid look-up key that matches no ID, so that the route answers as for an unknown one. */
const unknownId = '-'
const unknownUuid = '00000000-0000-0000-0000-000000000000'
const uuid = new RegExp(uuidPattern)

/**
 * Normalizes path parameters in place: lower-cases UUIDs, and replaces text that cannot be an ID by one that does not
 * exist. Every path parameter is an ID.
 */
export function normalizeParams(params: unknown, schema: unknown): void {
  const properties = propertiesOf(schema)
  if (!isObject(params) || !properties) return
  for (const [name, value] of Object.entries(params)) {
    if (typeof value !== 'string' || !Object.hasOwn(properties, name)) continue
    const described = properties[name]
    if (isUuidSchema(described)) params[name] = knownUuid(value)
    else if (!fits(value, described)) params[name] = unknownId
  }
}

/**
 * Normalizes the members of a body or query that its schema names, in place. Removes `null` and empty strings, which
 * count as absent unless `nullClears`, and lower-cases UUIDs. An `identityId` that is not a UUID becomes one that does
 * not exist.
 */
export function normalizeMembers(value: unknown, schema: unknown, nullClears: boolean): void {
  if (Array.isArray(value) && isObject(schema)) {
    for (const item of value) normalizeMembers(item, schema['items'], nullClears)
    return
  }
  const properties = propertiesOf(schema)
  if (!isObject(value) || !properties) return
  for (const [name, member] of Object.entries(value)) {
    if (!Object.hasOwn(properties, name)) continue
    const described = properties[name]
    if (!nullClears && isAbsent(member, described)) delete value[name]
    else if (typeof member !== 'string')
      for (const variant of variantsOf(described)) normalizeMembers(member, variant, nullClears)
    else if (variantsOf(described).some(isUuidSchema))
      value[name] = name === 'identityId' ? knownUuid(member) : member.toLowerCase()
  }
}

/** Returns the schemas of the members of an object, by their names. */
function propertiesOf(schema: unknown): Record<string, unknown> | undefined {
  const properties = isObject(schema) ? schema['properties'] : undefined
  return isObject(properties) ? properties : undefined
}

/** Checks whether a member counts as absent. An empty string is kept if its schema allows it (`AnyText`). */
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

/** Checks a string against its schema. U+0000 never matches, because no database stores it. */
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
