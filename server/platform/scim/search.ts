import { type Static, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { type Selection, parseAttributes, errors, requireSchema, urn } from './message.ts'

/** A search for resources; `startIndex` counts from one. */
export type Query = Selection & {
  filter?: string | undefined
  sortBy?: string | undefined
  sortOrder?: string | undefined
  startIndex?: number
  count?: number
}

const names = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 50 })
const Search = Type.Object({
  attributes: Type.Optional(names),
  excludedattributes: Type.Optional(names),
  filter: Type.Optional(Type.String({ maxLength: 4096 })),
  sortby: Type.Optional(Type.String({ maxLength: 200 })),
  sortorder: Type.Optional(Type.String({ maxLength: 20 })),
  startindex: Type.Optional(Type.Integer({ minimum: -999_999_999, maximum: 999_999_999 })),
  count: Type.Optional(Type.Integer({ minimum: -999_999_999, maximum: 999_999_999 })),
})

/** Parses a search message (RFC 7644 §3.4.3). Throws `invalidSyntax`. */
export function parseSearch(body: unknown): Query {
  const message = parseAttributes(body)
  requireSchema(message, urn.search)
  const search: unknown = Object.fromEntries([...message].filter(([, value]) => value !== null))
  if (!Check(Search, search)) throw errors.invalidSyntax()
  const { attributes, excludedattributes, filter, sortby, sortorder, ...page }: Static<typeof Search> = search
  const { startindex, count } = page
  return {
    ...(attributes && { attributes: attributes.join(',') }),
    ...(excludedattributes && { excludedAttributes: excludedattributes.join(',') }),
    ...(filter !== undefined && { filter }),
    ...(sortby !== undefined && { sortBy: sortby }),
    ...(sortorder !== undefined && { sortOrder: sortorder }),
    ...(startindex !== undefined && { startIndex: startindex }),
    ...(count !== undefined && { count }),
  }
}
