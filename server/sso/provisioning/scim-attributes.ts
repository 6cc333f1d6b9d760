import { refuse, urn } from './scim.ts'

/** The attributes of a resource by their names in lower case, which is all the same to SCIM (RFC 7643 §2.1). */
export type Attributes = ReadonlyMap<string, unknown>

/** Refuses `invalidSyntax` for what is no object, or names an attribute twice. */
export function readAttributes(value: unknown): Attributes {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse.invalidSyntax()
  const attributes = new Map<string, unknown>()
  for (const [name, each] of Object.entries(value)) {
    const key = nameOf(name)
    if (attributes.has(key)) throw refuse.invalidSyntax({ sentence: 'An attribute is given twice.' })
    attributes.set(key, each)
  }
  return attributes
}

/** The name of an attribute in lower case, without the schema of users before it. */
export function nameOf(name: string): string {
  const prefix = `${urn.user}:`.toLowerCase()
  const lower = name.toLowerCase()
  return lower.startsWith(prefix) ? lower.slice(prefix.length) : lower
}

/** Refuses `invalidSyntax` where a message does not say that it is of this schema. */
export function requireSchema(attributes: Attributes, schema: string): void {
  const schemas = attributes.get('schemas')
  const named = Array.isArray(schemas) ? schemas : []
  if (!named.some((each) => typeof each === 'string' && each.toLowerCase() === schema.toLowerCase()))
    throw refuse.invalidSyntax({ sentence: `schemas must name ${schema}.` })
}

/** A truth value; Entra ID writes them as texts. Undefined for what is none. */
export function readTruth(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' ? value.toLowerCase() : ''
  return word === 'true' ? true : word === 'false' ? false : undefined
}
