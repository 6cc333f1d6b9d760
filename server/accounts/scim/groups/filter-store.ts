import { type RawBuilder, sql } from 'kysely'
import { isUuid } from '@countersign/protocol/values'
import type { Filter } from '#platform/scim/filter.ts'
import { attributeKey, errors, urn } from '#platform/scim/message.ts'
import {
  type Columns,
  combine,
  type Condition,
  folded,
  leafOf,
  type Simple,
  unknownAttribute,
} from '../filter-store.ts'

const columns: Columns = new Map([
  ['id', { kind: 'id', of: sql`g.group_id`, index: [] }],
  ['displayname', folded(sql`g.display_name`)],
  ['externalid', { kind: 'text', of: sql`own.external_id`, index: [] }],
  ['meta.created', { kind: 'time', of: sql`own.created_at`, index: [] }],
  ['meta.lastmodified', { kind: 'time', of: sql`own.updated_at`, index: [] }],
  ['meta.resourcetype', folded(sql`'Group'::text`)],
  ['schemas', folded(sql`${urn.group}::text`)],
])

/** Returns a filter as a condition on a group of a source. Throws `invalidFilter`. */
export function conditionOf(filter: Filter, source: string): Condition {
  switch (filter.kind) {
    case 'and':
    case 'or':
    case 'not':
      return combine(filter, (each) => conditionOf(each, source))
    case 'element':
      if (filter.name !== 'members') throw unknownAttribute(filter.name)
      if (filter.filter.kind !== 'compare') throw onlyByValue()
      return hasMember(filter.filter, source)
    case 'compare':
    case 'present':
      if (filter.path.name !== 'members') return leafOf(columns, filter)
      return hasMember({ ...filter, path: { name: filter.path.part ?? 'value', part: undefined } }, source)
  }
}

/** Looks up one member. Members are found by their ID alone: a group can have very many. */
function hasMember(filter: Simple, source: string): Condition {
  const { path } = filter
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || path.name !== 'value' || path.part !== undefined)
    throw onlyByValue()
  const id = typeof filter.value === 'string' ? filter.value.toLowerCase() : ''
  if (!isUuid(id)) return sql`false`
  return sql`(exists (
    select from group_member
    where identity_id = ${id}::uuid and group_member.group_id = g.group_id and source = ${source}
  ) or exists (
    select from invited_identity
    where identity_id = ${id}::uuid and managed_by = ${source} and group_ids @> array[g.group_id]
  ))`
}

function onlyByValue() {
  return errors.invalidFilter({ sentence: 'Groups are found by members.value eq, with the ID of a user.' })
}

/** Checks whether groups have an attribute that users can be sorted by. */
export function isSortable(sortBy: string): boolean {
  return columns.has(attributeKey(sortBy.trim()))
}

/** Returns what groups are ordered by. Throws `invalidValue`. */
export function orderOf(sortBy: string): RawBuilder<unknown> {
  const name = attributeKey(sortBy.trim())
  const column = name === 'schemas' ? undefined : columns.get(name)
  if (!column) throw errors.invalidValue({ sentence: 'sortBy names no attribute that groups can be sorted by.' })
  return column.kind === 'folded' ? sql`lower(${column.of}) collate "C"` : column.of
}
