import { nameOf } from './scim-attributes.ts'

/** Which attributes a directory wants to have of users, or not to have (RFC 7644 §3.9). */
export type Selection = { attributes?: string | undefined; excludedAttributes?: string | undefined }

/** What users always have. */
const always = ['schemas', 'id']

type Resource = Record<string, unknown>

/** Of a user what is wanted. An attribute is named by itself, or by one of its parts: `name.givenName`. */
export function selectOf(user: Resource, { attributes, excludedAttributes }: Selection): Resource {
  const [wanted, unwanted] = [namesIn(attributes), namesIn(excludedAttributes)]
  if (wanted.length > 0)
    return pick(user, '', (path) => wanted.some((name) => `${path}.`.startsWith(`${name}.`)), wanted)
  return pick(user, '', (path) => !unwanted.includes(path))
}

function namesIn(list = ''): string[] {
  return list.split(',').flatMap((name) => (name.trim() === '' ? [] : [nameOf(name.trim())]))
}

/** Of an object what is to be kept; of what it is asked for in parts, those parts. */
function pick(value: Resource, within: string, keeps: (path: string) => boolean, parts: string[] = []): Resource {
  const kept: Resource = {}
  for (const [name, each] of Object.entries(value)) {
    const path = `${within}${name.toLowerCase()}`
    const inParts = parts.some((part) => part.startsWith(`${path}.`))
    if (within === '' && always.includes(name)) kept[name] = each
    else if (keeps(path) || inParts)
      kept[name] = inParts || parts.length === 0 ? pickIn(each, path, keeps, parts) : each
  }
  return kept
}

function pickIn(value: unknown, path: string, keeps: (path: string) => boolean, parts: string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => pickIn(each, path, keeps, parts))
  return isResource(value) ? pick(value, `${path}.`, keeps, parts) : value
}

function isResource(value: unknown): value is Resource {
  return typeof value === 'object' && value !== null
}
