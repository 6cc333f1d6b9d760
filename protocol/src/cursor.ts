import { Type } from 'typebox'

/** Position in a chronological list: an instant in milliseconds, and an ID. */
export const Cursor = Type.String({
  pattern: '^[0-9]{13}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  description: 'The nextCursor of the previous page',
})

/**
 * Position in a list of pending requests: the instant at which connections count, whether the app is connected (`c`,
 * `u`), the expiry, and an ID.
 */
export const PendingCursor = Type.String({
  pattern: '^[0-9]{13}-[cu]-[0-9]{13}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  description: 'The nextCursor of the previous page',
})

export const pageOf = (usual: number, cursor = Cursor) =>
  Type.Object({
    cursor: Type.Optional(cursor),
    limit: Type.Optional(
      Type.String({ pattern: '^([1-9][0-9]?|100)$', description: `1 to 100; ${usual} unless given` }),
    ),
  })
