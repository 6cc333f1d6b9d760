import { Type } from 'typebox'

/** Where a list goes on that is in the order of time: an instant in milliseconds, and an id. */
export const Cursor = Type.String({
  pattern: '^[0-9]{13}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  description: 'The nextCursor of the page before',
})

/**
 * Where a list of what waits goes on: as of which instant apps were connected or not (`c`, `u`), where among those, and
 * at which id.
 */
export const PendingCursor = Type.String({
  pattern: '^[0-9]{13}-[cu]-[0-9]{13}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  description: 'The nextCursor of the page before',
})

export const pageOf = (usual: number, cursor = Cursor) =>
  Type.Object({
    cursor: Type.Optional(cursor),
    limit: Type.Optional(
      Type.String({ pattern: '^([1-9][0-9]?|100)$', description: `1 to 100; ${usual} unless given` }),
    ),
  })
