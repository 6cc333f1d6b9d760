import { nameOf } from './scim-attributes.ts'
import { refuse } from './scim.ts'

/** The one user that is sought. */
export type Sought = { by: 'userName' | 'externalId' | 'id'; text: string }

const equals = /^\s*([\w:.-]+)\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i
const attributes = { username: 'userName', externalid: 'externalId', id: 'id' } as const

/** Reads a filter (RFC 7644 §3.4.2.2) of the kind by which directories find their people. Refuses `invalidFilter`. */
export function readFilter(filter: string): Sought {
  const [, name = '', quoted = ''] = equals.exec(filter) ?? []
  const by = Object.entries(attributes).find(([key]) => key === nameOf(name))?.[1]
  if (!by) throw refuse.invalidFilter()
  const text = unquote(quoted)
  return { by, text: by === 'id' ? text.toLowerCase() : text }
}

/** The text within quotation marks, which is written as in JSON. */
function unquote(quoted: string): string {
  try {
    const text: unknown = JSON.parse(quoted)
    if (typeof text === 'string' && text.isWellFormed() && !text.includes('\0')) return text
  } catch {
    throw refuse.invalidFilter()
  }
  throw refuse.invalidFilter()
}
