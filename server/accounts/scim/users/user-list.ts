import { limits } from '@countersign/protocol/formats/limits'
import { parseFilter } from '#platform/scim/filter.ts'
import { errors } from '#platform/scim/message.ts'
import { listResponse } from '#platform/scim/schema.ts'
import type { Query } from '#platform/scim/search.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { ScimSource } from '../source.ts'
import { scimUrlOf } from '../token.ts'
import { toResource } from './user.ts'
import { conditionOf, limitOf, orderOf } from './filter-store.ts'
import * as store from './user-store.ts'

const countDefault = 100

/**
 * Lists users that a token manages. Throws `invalidFilter`, `invalidValue`, and `tooMany` if no index limits how many
 * users are read or sorted.
 */
export async function listUsers({ db, config }: ServerContext, { tokenId }: ScimSource, query: Query, now: Date) {
  const { startIndex, count } = pageOf(query)
  const filter = query.filter === undefined ? undefined : parseFilter(query.filter)
  const order = query.sortBy === undefined ? undefined : orderOf(query.sortBy)
  const limit = filter && limitOf(filter)
  const readsAll = (filter && limit === undefined) || (order && !order.isIndexed && limit !== 'few')
  if (readsAll && (await store.hasMoreUsers(db, tokenId, limits.scimScannedMax))) throw errors.tooMany()
  const listing = {
    tokenId,
    condition: filter && conditionOf(filter, store.isActive),
    order: order?.key,
    isDescending: isDescending(query),
    skipped: startIndex - 1,
    count,
  }
  const total = await store.countUsers(db, listing, now)
  const users = count === 0 || total < startIndex ? [] : await store.listUsers(db, listing, now)
  return {
    page: listResponse([], total, startIndex),
    resources: users.map((user) => toResource(scimUrlOf(config), user)),
  }
}

/** Returns which part of a list a request is for. Throws `invalidValue`. */
export function pageOf({ startIndex = 1, count = countDefault }: Query): { startIndex: number; count: number } {
  if (startIndex > limits.scimStartIndexMax)
    throw errors.invalidValue({ sentence: `startIndex is at most ${limits.scimStartIndexMax}. Narrow the filter.` })
  return { startIndex: Math.max(1, startIndex), count: Math.min(limits.scimPageMax, Math.max(0, count)) }
}

/** Tells if a list is in descending order. Throws `invalidValue`. */
export function isDescending({ sortBy, sortOrder = 'ascending' }: Query): boolean {
  if (sortOrder !== 'ascending' && sortOrder !== 'descending')
    throw errors.invalidValue({ sentence: 'sortOrder must be ascending or descending.' })
  return sortBy !== undefined && sortOrder === 'descending'
}
