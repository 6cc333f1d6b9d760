import type { Comparison, Filter, FilterValue } from './filter.ts'
import { errors, parseAttributes, parseBoolean } from './message.ts'

/**
 * Checks whether a value of a multi-valued attribute matches a filter in brackets: JSON, or its attributes by name in
 * lower case. Letter case does not matter.
 */
export function matchesElement(element: unknown, filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((each) => matchesElement(element, each))
    case 'or':
      return filter.filters.some((each) => matchesElement(element, each))
    case 'not':
      return !matchesElement(element, filter.filter)
    case 'present':
      return isPresent(partOf(element, filter.path))
    case 'compare':
      return compare(partOf(element, filter.path), filter.operator, filter.value)
    case 'element':
      throw errors.invalidPath()
  }
}

function partOf(element: unknown, { name, part }: { name: string; part: string | undefined }): unknown {
  if (part !== undefined) throw errors.invalidPath()
  if (element instanceof Map) return element.get(name)
  if (typeof element !== 'object' || element === null) return name === 'value' ? element : undefined
  return parseAttributes(element).get(name)
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

function compare(actual: unknown, operator: Comparison, expected: FilterValue): boolean {
  if (expected === null) return operator === 'eq' ? !isPresent(actual) : operator === 'ne' && isPresent(actual)
  if (typeof actual === 'boolean') {
    const isTrue = parseBoolean(expected)
    return operator === 'eq' ? actual === isTrue : operator === 'ne' && actual !== isTrue
  }
  const [one, other] = [fold(actual), fold(expected)]
  switch (operator) {
    case 'eq':
      return one === other
    case 'ne':
      return one !== other
    case 'co':
      return one.includes(other)
    case 'sw':
      return one.startsWith(other)
    case 'ew':
      return one.endsWith(other)
    case 'gt':
      return one > other
    case 'ge':
      return one >= other
    case 'lt':
      return one < other
    case 'le':
      return one <= other
  }
}

function fold(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).toLowerCase()
    : ''
}

/**
 * Returns the element that a filter of equalities describes, or undefined: a value that is added where no value matches
 * `emails[type eq "work"]` has this type, as directories expect.
 */
export function describedElement(filter: Filter): Record<string, FilterValue> | undefined {
  const comparisons = filter.kind === 'and' ? filter.filters : [filter]
  const parts: Record<string, FilterValue> = {}
  for (const each of comparisons) {
    if (each.kind !== 'compare' || each.operator !== 'eq' || each.path.part !== undefined) return undefined
    parts[each.path.name] = each.value
  }
  return parts
}
