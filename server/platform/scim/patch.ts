import { ApiError } from '#platform/api-error.ts'
import { describedElement, matchesElement } from './element.ts'
import { type PatchPath, parsePatchPath } from './filter.ts'
import { type Attributes, attributeKey, errors, parseAttributes, parseBoolean, requireSchema, urn } from './message.ts'

const operationsMax = 100

/** An operation on one attribute. */
export type PatchOperation = { op: 'add' | 'replace' | 'remove'; path: PatchPath; value: unknown }

/** Kinds of the attributes of a resource that can be patched, by name in lower case. Others are ignored. */
export type PatchSchema = ReadonlyMap<string, 'required' | 'simple' | 'complex' | 'multi-valued' | 'read-only'>

/**
 * Parses a PATCH message (RFC 7644 §3.5.2). An operation without a path becomes one for each attribute of its value.
 * Operations on attributes that the schema lacks are left out. Throws `invalidSyntax`, `invalidPath`, `mutability`,
 * `noTarget`.
 */
export function parsePatch(body: unknown, schema: PatchSchema): PatchOperation[] {
  const message = parseAttributes(body)
  requireSchema(message, urn.patch)
  const operations = message.get('operations')
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > operationsMax)
    throw errors.invalidSyntax({ sentence: `Operations must be a list of 1 to ${operationsMax}.` })
  return operations.flatMap((operation) => parseOperation(parseAttributes(operation), schema))
}

function parseOperation(operation: Attributes, schema: PatchSchema): PatchOperation[] {
  const op = parseVerb(operation.get('op'))
  const [target, value] = [operation.get('path') ?? undefined, operation.get('value')]
  if (target !== undefined && typeof target !== 'string') throw errors.invalidPath()
  if (target === undefined && op === 'remove') throw errors.noTarget()
  if (target !== undefined) {
    const path = readTarget(target, schema)
    const kind = path && schema.get(path.name)
    if (kind === 'read-only') throw errors.mutability({ sentence: 'path is read-only.' })
    if (kind === 'required' && op === 'remove') throw errors.mutability()
    return path ? [{ op, path, value }] : []
  }
  return Object.entries(objectOf(value)).flatMap(([name, each]) => {
    const path = readTarget(name, schema)
    return path && schema.get(path.name) !== 'read-only' ? [{ op, path, value: each }] : []
  })
}

function parseVerb(op: unknown): PatchOperation['op'] {
  const verb = typeof op === 'string' ? op.toLowerCase() : ''
  const known = (['add', 'replace', 'remove'] as const).find((each) => each === verb)
  if (!known) throw errors.invalidSyntax({ sentence: 'op must be add, replace or remove.' })
  return known
}

function objectOf(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw errors.invalidValue({ sentence: 'Without a path, value must be an object.' })
  return value
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns undefined for an attribute of another schema, or one that is not stored. */
function readTarget(target: string, schema: PatchSchema): PatchPath | undefined {
  if (attributeKey(target).startsWith('urn:')) return undefined
  try {
    const path = parsePatchPath(target)
    return schema.has(path.name) ? path : undefined
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalidFilter') throw errors.invalidPath()
    throw error
  }
}

/** Applies operations to a resource, in their order. Throws `noTarget`, `invalidPath`, `invalidValue`. */
export function applyPatch(attributes: Attributes, operations: PatchOperation[], schema: PatchSchema): Attributes {
  const patched = new Map(attributes)
  for (const operation of operations) {
    const kind = schema.get(operation.path.name)
    if (kind === 'multi-valued') patchValues(patched, operation)
    else if (operation.path.filter) throw errors.invalidPath()
    else if (operation.op === 'remove') remove(patched, operation.path)
    else if (kind === 'complex') merge(patched, operation)
    else set(patched, operation)
  }
  return patched
}

function set(attributes: Map<string, unknown>, { path, value }: PatchOperation): void {
  if (path.part !== undefined) throw errors.invalidPath()
  if (value === undefined) throw errors.invalidValue()
  attributes.set(path.name, value)
}

function remove(attributes: Map<string, unknown>, { name, part }: PatchPath): void {
  if (part === undefined) attributes.delete(name)
  else attributes.set(name, without(attributes.get(name), part))
}

function without(value: unknown, part: string): object {
  const parts = new Map(value === undefined || value === null ? [] : parseAttributes(value))
  parts.delete(part)
  return Object.fromEntries(parts)
}

/** Sets parts of a complex attribute. Those that the value does not name stay. */
function merge(attributes: Map<string, unknown>, { path: { name, part }, value }: PatchOperation): void {
  if (value === undefined) throw errors.invalidValue()
  const before = attributes.get(name) ?? {}
  const changed = part === undefined ? (value ?? {}) : { [part]: value }
  attributes.set(name, Object.fromEntries([...parseAttributes(before), ...parseAttributes(changed)]))
}

function patchValues(attributes: Map<string, unknown>, operation: PatchOperation): void {
  const { path, op, value } = operation
  const before = listOf(attributes.get(path.name))
  if (path.filter) return void attributes.set(path.name, patchMatching(before, operation))
  if (path.part !== undefined)
    return void attributes.set(
      path.name,
      before.map((each) => setPart(each, operation)),
    )
  if (op === 'remove') attributes.set(path.name, value === undefined ? [] : withoutValues(before, listOf(value)))
  else if (value === undefined) throw errors.invalidValue()
  else attributes.set(path.name, op === 'replace' ? listOf(value) : append(before, listOf(value)))
}

function patchMatching(before: unknown[], operation: PatchOperation): unknown[] {
  const { op, path, value } = operation
  const { filter, part } = path
  if (!filter) return before
  const isMatch = (each: unknown) => matchesElement(each, filter)
  const isFound = before.some(isMatch)
  if (op === 'remove')
    return part === undefined
      ? before.filter((each) => !isMatch(each))
      : before.map((each) => (isMatch(each) ? without(each, part) : each))
  if (value === undefined) throw errors.invalidValue()
  if (isFound) return before.map((each) => (isMatch(each) ? setPart(each, operation) : each))
  const described = describedElement(filter)
  if (op === 'replace' || !described) throw errors.noTarget({ sentence: 'No value matches the filter in path.' })
  return append(before, [setPart(described, operation)])
}

/** Sets a part of a value of a multi-valued attribute, or those parts that a value without a part names. */
function setPart(element: unknown, { op, path: { part }, value }: PatchOperation): object {
  if (part !== undefined && op === 'remove') return without(element, part)
  const changed = part === undefined ? value : { [part]: value }
  return Object.fromEntries([...parseAttributes(element), ...parseAttributes(changed)])
}

/** Adds values. A value that is there is replaced, and a new primary value ends the one before (RFC 7643 §2.4). */
function append(before: unknown[], added: unknown[]): unknown[] {
  const isPrimary = (each: unknown) => parseBoolean(partOf(each, 'primary')) === true
  const kept = withoutValues(before, added)
  const others = added.some(isPrimary)
    ? kept.map((each) => (isPrimary(each) ? Object.fromEntries([...parseAttributes(each), ['primary', false]]) : each))
    : kept
  return [...others, ...added]
}

function withoutValues(before: unknown[], removed: unknown[]): unknown[] {
  const keys = new Set(removed.map(keyOf))
  return before.filter((each) => !keys.has(keyOf(each)))
}

function keyOf(element: unknown): string {
  const value = partOf(element, 'value')
  return typeof value === 'string' ? value.toLowerCase() : JSON.stringify(element)
}

function partOf(element: unknown, part: string): unknown {
  if (typeof element !== 'object' || element === null) return part === 'value' ? element : undefined
  return parseAttributes(element).get(part)
}

/** Returns the values of a multi-valued attribute. One value can be sent without a list. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
}
