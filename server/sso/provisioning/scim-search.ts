import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { readAttributes, requireSchema } from './scim-attributes.ts'
import type { Selection } from './scim-selection.ts'
import { refuse, urn } from './scim.ts'

/** Which users a directory asks for: `startIndex` counts from one. */
export type Query = Selection & { filter?: string | undefined; startIndex?: number; count?: number }

const names = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 50 })
const Search = Type.Object({
  attributes: Type.Optional(names),
  excludedattributes: Type.Optional(names),
  filter: Type.Optional(Type.String({ maxLength: 1000 })),
  startindex: Type.Optional(Type.Integer({ minimum: -999_999_999, maximum: 999_999_999 })),
  count: Type.Optional(Type.Integer({ minimum: -999_999_999, maximum: 999_999_999 })),
})

/** Parses a search message (RFC 7644 §3.4.3). Refuses `invalidSyntax`. */
export function parseSearch(body: unknown): Query {
  const message = readAttributes(body)
  requireSchema(message, urn.search)
  const search: unknown = Object.fromEntries([...message].filter(([, value]) => value !== null))
  if (!Value.Check(Search, search)) throw refuse.invalidSyntax()
  const { attributes, excludedattributes, filter, startindex, count }: Static<typeof Search> = search
  return {
    ...(attributes && { attributes: attributes.join(',') }),
    ...(excludedattributes && { excludedAttributes: excludedattributes.join(',') }),
    ...(filter !== undefined && { filter }),
    ...(startindex !== undefined && { startIndex: startindex }),
    ...(count !== undefined && { count }),
  }
}
