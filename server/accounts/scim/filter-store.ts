import { isUuid } from '@countersign/protocol/values'
import { type RawBuilder, sql } from 'kysely'
import type { AttributePath, Comparison, Filter, FilterValue } from '#platform/scim/filter.ts'
import { errors, parseBoolean } from '#platform/scim/message.ts'

export type Condition = RawBuilder<boolean>
/** A comparison, or that an attribute has a value. */
export type Simple = Extract<Filter, { kind: 'compare' | 'present' }>
type Combined = Extract<Filter, { kind: 'and' | 'or' | 'not' }>
type Leaf = { operator: Comparison; value: FilterValue }

/**
 * Column that filters compare, and how: a `key` is in lower case, and `folded` text is compared in it. `index` has the
 * operators that an index serves.
 */
export type Column = {
  kind: 'text' | 'key' | 'folded' | 'boolean' | 'time' | 'id'
  of: RawBuilder<unknown>
  index: Comparison[]
}

/** Columns by the path of their attribute. */
export type Columns = ReadonlyMap<string, Column>

export const folded = (of: RawBuilder<unknown>): Column => ({ kind: 'folded', of, index: [] })

/** Combines the conditions of a filter. */
export function combine(filter: Combined, translate: (each: Filter) => Condition): Condition {
  if (filter.kind === 'not') return sql`not ${translate(filter.filter)}`
  return sql`(${sql.join(filter.filters.map(translate), filter.kind === 'and' ? sql` and ` : sql` or `)})`
}

/** Returns a comparison of a column as a condition, which is never null. Throws `invalidFilter`. */
export function leafOf(columns: Columns, filter: Simple): Condition {
  const column = columns.get(nameOf(filter.path))
  if (!column) throw unknownAttribute(nameOf(filter.path))
  if (filter.kind === 'present') return sql`coalesce(${column.of}::text <> '', false)`
  const { operator, value } = filter
  if (value === null) {
    if (operator !== 'eq' && operator !== 'ne') throw errors.invalidFilter()
    const isPresent = sql<boolean>`coalesce(${column.of}::text <> '', false)`
    return operator === 'ne' ? isPresent : sql`not ${isPresent}`
  }
  const compared = compare(column, { operator, value })
  // Without `coalesce`, an index serves the comparison. An unassigned value is equal to no text.
  if (column.index.includes(operator)) return sql`(${compared} and ${column.of} is not null)`
  return sql`coalesce(${compared}, ${sql.lit(operator === 'ne')})`
}

function compare(column: Column, { operator, value }: Leaf): Condition {
  switch (column.kind) {
    case 'boolean': {
      const expected = parseBoolean(value)
      if (expected === undefined || (operator !== 'eq' && operator !== 'ne')) throw errors.invalidFilter()
      return order(column.of, operator, sql`${expected}::boolean`)
    }
    case 'time': {
      const instant = typeof value === 'string' ? new Date(value) : undefined
      if (instant === undefined || !isStorable(instant)) throw errors.invalidFilter()
      return order(column.of, operator, sql`${instant}::timestamptz`)
    }
    case 'id':
      return compareId(column.of, { operator, value })
    case 'text':
      return compareText(column.of, operator, requireText(value))
    case 'key':
      return compareText(column.of, operator, requireText(value).toLowerCase())
    case 'folded':
      return compareText(sql`lower(${column.of})`, operator, requireText(value).toLowerCase())
  }
}

/** Years of four digits, which every database can compare. */
function isStorable(instant: Date): boolean {
  const year = instant.getUTCFullYear()
  return year >= 1 && year <= 9999
}

function requireText(value: FilterValue): string {
  if (typeof value !== 'string') throw errors.invalidFilter()
  return value
}

function compareId(column: RawBuilder<unknown>, { operator, value }: Leaf): Condition {
  const text = requireText(value).toLowerCase()
  if (isUuid(text) && !['co', 'sw', 'ew'].includes(operator)) return order(column, operator, sql`${text}::uuid`)
  // No ID is equal to such text. Citus takes no constant as the condition of an outer join.
  if (operator === 'eq') return sql`${column} is null`
  if (operator === 'ne') return sql`${column} is not null`
  return compareText(sql`${column}::text`, operator, text)
}

/** Compares text, byte by byte where its order counts. No value is a pattern. */
function compareText(column: RawBuilder<unknown>, operator: Comparison, text: string): Condition {
  const value = sql`${text}::text`
  switch (operator) {
    case 'co':
      return sql`position(${value} in ${column}) > 0`
    case 'sw':
      return sql`
        (${column} collate "C" >= ${value} and ${column} collate "C" < ${`${text}\u{10FFFF}`}::text
          and starts_with(${column}, ${value}))`
    case 'ew':
      return sql`right(${column}, length(${value})) = ${value}`
    case 'eq':
    case 'ne':
    case 'gt':
    case 'ge':
    case 'lt':
    case 'le':
      return order(sql`${column} collate "C"`, operator, value)
  }
}

function order(column: RawBuilder<unknown>, operator: Comparison, value: RawBuilder<unknown>): Condition {
  switch (operator) {
    case 'eq':
      return sql`${column} = ${value}`
    case 'ne':
      return sql`${column} <> ${value}`
    case 'gt':
      return sql`${column} > ${value}`
    case 'ge':
      return sql`${column} >= ${value}`
    case 'lt':
      return sql`${column} < ${value}`
    case 'le':
      return sql`${column} <= ${value}`
    case 'co':
    case 'sw':
    case 'ew':
      throw errors.invalidFilter()
  }
}

export function nameOf({ name, part }: AttributePath): string {
  return part === undefined ? name : `${name}.${part}`
}

export function unknownAttribute(name: string) {
  return errors.invalidFilter({ sentence: `There is no attribute ${name.slice(0, 60)} that a filter can name.` })
}
