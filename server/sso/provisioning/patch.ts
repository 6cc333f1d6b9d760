import { nameOf, readAttributes, readTruth, requireSchema, type Attributes } from './scim-attributes.ts'
import { attributesOf, readUser, type ScimUser } from './user.ts'
import { refuse, urn } from './scim.ts'

/** An attribute, a filter of its values, and a part of it (RFC 7644 §3.5.2). */
const path = /^([a-z][\w$-]*)(?:\[([^\]]{1,300})\])?(?:\.([a-z][\w$-]*))?$/
/** Attributes of other schemas: their names have theirs before them. */
const foreign = /^urn:[^\s[\]]+$/

/** Of several addresses or roles one is kept; these filters mean that one. */
const filters: ReadonlyMap<string, RegExp> = new Map([
  ['emails', /^(?:type eq "work"|primary eq "?true"?)$/i],
  ['roles', /^primary eq "?true"?$/i],
])
const operationsMax = 100

/**
 * What becomes of a user by a PATCH. Operations may be written in any case, values beside a path or as an object; what
 * is about attributes that are not kept is passed over. Refuses `invalidSyntax`, `invalidPath`, `invalidValue`,
 * `mutability`, `noTarget`.
 */
export function patchUser(user: ScimUser, body: unknown): ScimUser {
  const message = readAttributes(body)
  requireSchema(message, urn.patch)
  const operations = message.get('operations')
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > operationsMax)
    throw refuse.invalidSyntax({ sentence: `Operations is a list of 1 to ${operationsMax}.` })
  const attributes = new Map<string, unknown>(readAttributes(attributesOf(user)))
  for (const operation of operations) apply(attributes, readAttributes(operation))
  return readUser(attributes, user)
}

function apply(attributes: Map<string, unknown>, operation: Attributes): void {
  const op = operation.get('op')
  const kind = typeof op === 'string' ? op.toLowerCase() : ''
  const target = operation.get('path') ?? undefined
  if (target !== undefined && typeof target !== 'string') throw refuse.invalidPath()
  if (kind === 'remove') {
    if (target === undefined) throw refuse.noTarget()
    return remove(attributes, target)
  }
  if (kind !== 'add' && kind !== 'replace') throw refuse.invalidSyntax({ sentence: 'op is add, replace or remove.' })
  const value = operation.get('value')
  if (target !== undefined) return set(attributes, target, value)
  for (const [name, each] of readAttributes(value)) set(attributes, name, each)
}

function set(attributes: Map<string, unknown>, target: string, value: unknown): void {
  const found = find(target)
  if (!found) return
  const { name, part } = found
  if (value === undefined) throw refuse.invalidValue()
  if (name === 'name' && part !== undefined) return setPartOfName(attributes, part, value)
  if (name === 'name' && value !== null) {
    for (const [each, text] of readAttributes(value)) setPartOfName(attributes, each, text)
    return
  }
  const isOfOne = part === 'value' && filters.has(name)
  // Of one of several values, only what it is itself is kept, and not of which type, or how it is shown.
  if (part !== undefined && !isOfOne) return
  attributes.set(name, isOfOne ? [{ value, primary: true }] : merged(attributes.get(name), value, name))
}

/** Addresses that are not for work, and not the primary one, do not take the place of the one that is kept. */
function merged(before: unknown, value: unknown, name: string): unknown {
  if (name !== 'emails' || !Array.isArray(value) || !Array.isArray(before)) return value
  const isMain = (each: unknown) => {
    if (typeof each === 'string') return true
    const email = readAttributes(each)
    return readTruth(email.get('primary')) === true || [undefined, 'work'].includes(textOf(email.get('type')))
  }
  return value.some(isMain) ? value.filter(isMain) : before
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function setPartOfName(attributes: Map<string, unknown>, part: string, value: unknown): void {
  const name = attributes.get('name') ?? {}
  attributes.set('name', Object.fromEntries(new Map(readAttributes(name)).set(part, value)))
}

function remove(attributes: Map<string, unknown>, target: string): void {
  const found = find(target)
  if (!found) return
  const { name, part } = found
  if (name === 'active' || name === 'username') throw refuse.mutability()
  if (name === 'name' && part !== undefined) return setPartOfName(attributes, part, null)
  attributes.delete(name)
}

/** What a path is about; undefined where that is nothing that is kept. */
function find(target: string): { name: string; part: string | undefined } | undefined {
  const lower = nameOf(target)
  if (foreign.test(lower)) return undefined
  const [, name = '', filter, part] = path.exec(lower) ?? []
  if (name === '') throw refuse.invalidPath()
  return filter === undefined || filters.get(name)?.test(filter) ? { name, part } : undefined
}
