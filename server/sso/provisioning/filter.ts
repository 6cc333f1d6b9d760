import { attributeKey, errors } from '#platform/scim/message.ts'

function invalidFilter() {
  return errors.invalidFilter({
    sentence: 'filter must be userName eq, externalId eq or id eq with one quoted string.',
  })
}

/** Filter for a single user. */
export type ScimFilter = { by: 'userName' | 'externalId' | 'id'; text: string }

const equals = /^\s*([\w:.-]+)\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i
const filterable = { username: 'userName', externalid: 'externalId', id: 'id' } as const

/** Parses a filter (RFC 7644 §3.4.2.2) of the kinds with which directories find users. Throws `invalidFilter`. */
export function parseFilter(filter: string): ScimFilter {
  const [, name = '', quoted = ''] = equals.exec(filter) ?? []
  const by = Object.entries(filterable).find(([key]) => key === attributeKey(name))?.[1]
  if (!by) throw invalidFilter()
  const text = unquote(quoted)
  return { by, text: by === 'id' ? text.toLowerCase() : text }
}

/** Parses a quoted string, which has JSON syntax. */
function unquote(quoted: string): string {
  try {
    const text: unknown = JSON.parse(quoted)
    if (typeof text === 'string' && text.isWellFormed() && !text.includes('\0')) return text
  } catch {
    throw invalidFilter()
  }
  throw invalidFilter()
}
