import { type RawBuilder, sql } from 'kysely'
import type { Filter } from '#platform/scim/filter.ts'
import { attributeKey, errors, urn } from '#platform/scim/message.ts'
import {
  type Column,
  type Columns,
  combine,
  type Condition,
  folded,
  leafOf,
  nameOf,
  type Simple,
  unknownAttribute,
} from '../filter-store.ts'

/** Columns by the path of their attribute, on `scim_user` as `u`. */
function columnsOf(isActive: RawBuilder<boolean>): Columns {
  return new Map<string, Column>([
    ['id', { kind: 'id', of: sql`u.identity_id`, index: ['eq', 'gt', 'ge', 'lt', 'le'] }],
    ['username', { kind: 'key', of: sql`u.user_name_key`, index: ['eq', 'sw'] }],
    ['externalid', { kind: 'text', of: sql`u.external_id`, index: ['eq'] }],
    ['displayname', folded(sql`u.display_name`)],
    ['name.formatted', folded(sql`u.formatted_name`)],
    ['name.givenname', folded(sql`u.given_name`)],
    ['name.familyname', folded(sql`u.family_name`)],
    ['active', { kind: 'boolean', of: isActive, index: [] }],
    ['meta.created', { kind: 'time', of: sql`u.created_at`, index: ['eq', 'gt', 'ge'] }],
    ['meta.lastmodified', { kind: 'time', of: sql`u.updated_at`, index: ['eq', 'gt', 'ge'] }],
    ['meta.resourcetype', folded(sql`'User'::text`)],
    ['schemas', folded(sql`${urn.user}::text`)],
  ])
}

/** Parts of an e-mail address, in an element of `emails` as `email`. */
const partsOfEmail: Columns = new Map<string, Column>([
  ['value', folded(sql`email->>'value'`)],
  ['type', folded(sql`email->>'type'`)],
  ['primary', { kind: 'boolean', of: sql`coalesce((email->>'primary')::boolean, false)`, index: [] }],
])

/** Returns a filter as a condition on the row of a user. Throws `invalidFilter`. */
export function conditionOf(filter: Filter, isActive: RawBuilder<boolean>): Condition {
  const columns = columnsOf(isActive)
  const translate = (each: Filter): Condition => {
    if (each.kind === 'element') return elementOf(each)
    if (each.kind === 'compare' || each.kind === 'present')
      return each.path.name === 'emails' ? emailsOf(each) : leafOf(columns, each)
    return combine(each, translate)
  }
  return translate(filter)
}

/** An e-mail address that matches a filter, or one of its parts. */
function elementOf({ name, filter }: Extract<Filter, { kind: 'element' }>): Condition {
  if (name !== 'emails') throw unknownAttribute(name)
  const translate = (each: Filter): Condition => {
    if (each.kind === 'element') throw errors.invalidFilter()
    if (each.kind === 'compare' || each.kind === 'present') return leafOf(partsOfEmail, each)
    return combine(each, translate)
  }
  const matching = anyEmail(translate(filter))
  const address = addressIn(filter)
  return address === undefined ? matching : sql`(${hasAddress(address)} and ${matching})`
}

/** An e-mail address that meets a condition on `email`. */
function anyEmail(condition: Condition): Condition {
  return sql`exists (select from jsonb_array_elements(u.emails) as each (email) where ${condition})`
}

/** Returns the address that a filter of e-mail addresses requires, if it does. */
function addressIn(filter: Filter): string | undefined {
  if (filter.kind === 'and') return filter.filters.map(addressIn).find((address) => address !== undefined)
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || filter.path.name !== 'value') return undefined
  return typeof filter.value === 'string' ? filter.value : undefined
}

function hasAddress(address: string): Condition {
  return sql`u.email_keys @> array[${address.toLowerCase()}::text]`
}

/** Comparison of the addresses, which `emails` names like `emails.value`. */
function emailsOf(filter: Simple): Condition {
  const part = filter.path.part ?? 'value'
  const path = { name: part, part: undefined }
  if (filter.kind === 'present') return anyEmail(leafOf(partsOfEmail, { ...filter, path }))
  const { operator, value } = filter
  if (value === null && operator !== 'eq' && operator !== 'ne') throw errors.invalidFilter()
  // No value may be this one: `ne` on several values is the opposite of `eq`.
  if (operator === 'ne') return sql`not ${emailsOf({ ...filter, operator: 'eq' })}`
  if (value === null) return sql`not ${emailsOf({ kind: 'present', path: filter.path })}`
  if (part === 'value' && operator === 'eq' && typeof value === 'string') return hasAddress(value)
  return anyEmail(leafOf(partsOfEmail, { ...filter, path }))
}

/** How an index limits the users that are read for a filter: to few, or to a range that may have all of them. */
export type Limit = 'few' | 'range' | undefined

/** Returns how an index limits the users that are read for a filter, or undefined if it does not. */
export function limitOf(filter: Filter): Limit {
  switch (filter.kind) {
    case 'and': {
      // What no index serves is compared with each user of a range.
      const limits = filter.filters.map(limitOf)
      if (limits.includes('few')) return 'few'
      return limits.includes(undefined) ? undefined : 'range'
    }
    case 'or': {
      const limits = filter.filters.map(limitOf)
      if (limits.includes(undefined)) return undefined
      return limits.includes('range') ? 'range' : 'few'
    }
    case 'element':
      return addressIn(filter.filter) === undefined ? undefined : 'few'
    case 'compare': {
      const { path, operator, value } = filter
      if (typeof value !== 'string') return undefined
      const isOne = operator === 'eq' || operator === 'sw'
      if (path.name === 'emails') return operator === 'eq' && (path.part ?? 'value') === 'value' ? 'few' : undefined
      if (
        columnsOf(sql`true`)
          .get(nameOf(path))
          ?.index.includes(operator) !== true
      )
        return undefined
      return isOne ? 'few' : 'range'
    }
    case 'not':
    case 'present':
      return undefined
  }
}

const sortable = ['username', 'id', 'externalid', 'displayname', 'meta.created', 'meta.lastmodified'] as const
const sortableParts = ['name.formatted', 'name.givenname', 'name.familyname', 'emails', 'emails.value'] as const

/** Returns what users are ordered by, and whether an index has the order. Throws `invalidValue`. */
export function orderOf(sortBy: string): { key: RawBuilder<unknown>; isIndexed: boolean } {
  const name = attributeKey(sortBy.trim())
  if (name === 'emails' || name === 'emails.value') return { key: sql`u.email_keys[1] collate "C"`, isIndexed: false }
  const known = [...sortable, ...sortableParts].find((each) => each === name)
  const column = known && columnsOf(sql`true`).get(known)
  if (!column) throw errors.invalidValue({ sentence: 'sortBy names no attribute that users can be sorted by.' })
  const key = column.kind === 'folded' ? sql`lower(${column.of}) collate "C"` : column.of
  return { key, isIndexed: column.index.length > 0 }
}
