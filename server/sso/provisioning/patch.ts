import {
  type Attributes,
  attributeKey,
  parseAttributes,
  parseBoolean,
  errors,
  requireSchema,
  urn,
} from '#platform/scim/message.ts'
import { type ScimUser, attributesOf, parseScimUser } from './user.ts'

/** A path: attribute, value filter and sub-attribute (RFC 7644 §3.5.2). */
const path = /^([a-z][\w$-]*)(?:\[([^\]]{1,300})\])?(?:\.([a-z][\w$-]*))?$/
/** Attributes of other schemas, which have their schema URI as prefix. */
const foreign = /^urn:[^\s[\]]+$/

/** Filters that select the one stored value of e-mail addresses or roles. */
const filters: ReadonlyMap<string, RegExp> = new Map([
  ['emails', /^(?:type eq "work"|primary eq "?true"?)$/i],
  ['roles', /^primary eq "?true"?$/i],
])
const operationsMax = 100

/**
 * Applies a PATCH to a user. Operations can be in any case, with a path and value or an object as value. Attributes
 * that are not stored are ignored. Throws `invalidSyntax`, `invalidPath`, `invalidValue`, `mutability`, `noTarget`.
 */
export function patchUser(user: ScimUser, body: unknown): ScimUser {
  const message = parseAttributes(body)
  requireSchema(message, urn.patch)
  const operations = message.get('operations')
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > operationsMax)
    throw errors.invalidSyntax({ sentence: `Operations must be a list of 1 to ${operationsMax}.` })
  const attributes = new Map<string, unknown>(parseAttributes(attributesOf(user)))
  for (const operation of operations) apply(attributes, parseAttributes(operation))
  return parseScimUser(attributes, user)
}

function apply(attributes: Map<string, unknown>, operation: Attributes): void {
  const op = operation.get('op')
  const kind = typeof op === 'string' ? op.toLowerCase() : ''
  const target = operation.get('path') ?? undefined
  if (target !== undefined && typeof target !== 'string') throw errors.invalidPath()
  if (kind === 'remove') {
    if (target === undefined) throw errors.noTarget()
    return remove(attributes, target)
  }
  if (kind !== 'add' && kind !== 'replace')
    throw errors.invalidSyntax({ sentence: 'op must be add, replace or remove.' })
  const value = operation.get('value')
  if (target !== undefined) return set(attributes, target, value)
  for (const [name, each] of parseAttributes(value)) set(attributes, name, each)
}

function set(attributes: Map<string, unknown>, target: string, value: unknown): void {
  const found = find(target)
  if (!found) return
  const { name, part } = found
  if (value === undefined) throw errors.invalidValue()
  if (name === 'name' && part !== undefined) return setPartOfName(attributes, part, value)
  if (name === 'name' && value !== null) {
    for (const [each, text] of parseAttributes(value)) setPartOfName(attributes, each, text)
    return
  }
  const isOfOne = part === 'value' && filters.has(name)
  // Of a multi-valued attribute only the value is stored, not its type or display form.
  if (part !== undefined && !isOfOne) return
  attributes.set(name, isOfOne ? [{ value, primary: true }] : merged(attributes.get(name), value, name))
}

/** Checks for addresses that are neither work nor primary addresses. They do not replace the stored one. */
function merged(before: unknown, value: unknown, name: string): unknown {
  if (name !== 'emails' || !Array.isArray(value) || !Array.isArray(before)) return value
  const isMain = (each: unknown) => {
    if (typeof each === 'string') return true
    const email = parseAttributes(each)
    return parseBoolean(email.get('primary')) === true || [undefined, 'work'].includes(textOf(email.get('type')))
  }
  return value.some(isMain) ? value.filter(isMain) : before
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function setPartOfName(attributes: Map<string, unknown>, part: string, value: unknown): void {
  const name = attributes.get('name') ?? {}
  attributes.set('name', Object.fromEntries(new Map(parseAttributes(name)).set(part, value)))
}

function remove(attributes: Map<string, unknown>, target: string): void {
  const found = find(target)
  if (!found) return
  const { name, part } = found
  if (name === 'active' || name === 'username') throw errors.mutability()
  if (name === 'name' && part !== undefined) return setPartOfName(attributes, part, null)
  attributes.delete(name)
}

/** Resolves the attribute of a path. Returns undefined if it is not stored. */
function find(target: string): { name: string; part: string | undefined } | undefined {
  const lower = attributeKey(target)
  if (foreign.test(lower)) return undefined
  const [, name = '', filter, part] = path.exec(lower) ?? []
  if (name === '') throw errors.invalidPath()
  return filter === undefined || filters.get(name)?.test(filter) ? { name, part } : undefined
}
