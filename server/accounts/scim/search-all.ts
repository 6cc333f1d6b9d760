import { ApiError } from '#platform/api-error.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { listResponse } from '#platform/scim/schema.ts'
import type { Query } from '#platform/scim/search.ts'
import { isSortable } from './groups/filter-store.ts'
import { listGroups } from './groups/provisioning.ts'
import type { ScimSource } from './source.ts'
import { listUsers, pageOf } from './users/user-list.ts'

/**
 * Lists users and then groups that a token manages. A filter on an attribute of one kind finds only this kind.
 * Throws as both lists, `invalidFilter` if neither has an attribute.
 */
export async function listResources(kernel: ServerContext, source: ScimSource, query: Query, now: Date) {
  const { startIndex, count } = pageOf(query)
  const users = await unlessUnknown(listUsers(kernel, source, query, now))
  const totalOfUsers = users.listed?.page.totalResults ?? 0
  const shown = users.listed?.resources ?? []
  const rest = { ...query, startIndex: Math.max(1, startIndex - totalOfUsers), count: count - shown.length }
  // What only users can be sorted by leaves groups in the order of their IDs.
  const sortBy = query.sortBy !== undefined && isSortable(query.sortBy) ? query.sortBy : undefined
  const groups = await unlessUnknown(listGroups(kernel, source, { ...rest, sortBy }))
  if (users.error && groups.error) throw users.error
  const total = totalOfUsers + (groups.listed?.page.totalResults ?? 0)
  return { page: listResponse([], total, startIndex), resources: [...shown, ...(groups.listed?.resources ?? [])] }
}

/** Returns the error for an attribute that the resources of a list do not have. */
async function unlessUnknown<Listed>(listing: Promise<Listed>): Promise<{ listed?: Listed; error?: ApiError }> {
  try {
    return { listed: await listing }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalidFilter') return { error }
    throw error
  }
}
