import type { ErrorFormat } from '#platform/http/host.ts'
import { defineErrors } from '#platform/api-error.ts'

/** Schema and message URIs of SCIM (RFC 7643 §8, RFC 7644 §8.2). */
export const urn = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  resourceType: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
  serviceProvider: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  search: 'urn:ietf:params:scim:api:messages:2.0:SearchRequest',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
} as const

/** Errors with a SCIM keyword (`scimType`, RFC 7644 §3.12), by that keyword. */
const words = {
  invalidFilter: [400, 'filter is not a filter of RFC 7644 section 3.4.2.2 over attributes of this resource.'],
  invalidPath: [400, 'path must name an attribute, optionally with a part: name.givenName, or emails with a filter.'],
  invalidSyntax: [400, 'The body is not a valid SCIM 2.0 message for this endpoint.'],
  invalidValue: [400, 'A value is missing or has the wrong type.'],
  mutability: [400, 'This attribute cannot be removed.'],
  noTarget: [400, 'A remove operation must have a path.'],
  tooMany: [400, 'Too many resources would be read for this request. Narrow the filter.'],
  uniqueness: [409, 'A unique value is already in use.'],
} as const
export const errors = defineErrors(words)

/** Media type of all SCIM responses, including errors. */
export const scimDialect: ErrorFormat = {
  mediaType: 'application/scim+json',
  respond: ({ status, code, message }) => ({
    schemas: [urn.error],
    status: String(status),
    ...(Object.hasOwn(words, code) && { scimType: code }),
    detail: message,
  }),
}

/** Maps the attributes of a resource by lower-case name, because SCIM names are case-insensitive (RFC 7643 §2.1). */
export type Attributes = ReadonlyMap<string, unknown>

/** Throws `invalidSyntax` if the value is not an object or names an attribute twice. */
export function parseAttributes(value: unknown): Attributes {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw errors.invalidSyntax()
  const attributes = new Map<string, unknown>()
  for (const [name, each] of Object.entries(value)) {
    const key = attributeKey(name)
    if (attributes.has(key)) throw errors.invalidSyntax({ sentence: 'An attribute is repeated.' })
    attributes.set(key, each)
  }
  return attributes
}

const corePrefixes = [urn.user, urn.group].map((schema) => `${schema}:`.toLowerCase())

/** Returns the name of an attribute in lower case, without the prefix of a core schema. */
export function attributeKey(name: string): string {
  const lower = name.toLowerCase()
  const prefix = corePrefixes.find((each) => lower.startsWith(each)) ?? ''
  return lower.slice(prefix.length)
}

/** Throws `invalidSyntax` if a message does not name this schema. */
export function requireSchema(attributes: Attributes, schema: string): void {
  const schemas = attributes.get('schemas')
  const named = Array.isArray(schemas) ? schemas : []
  if (!named.some((each) => typeof each === 'string' && each.toLowerCase() === schema.toLowerCase()))
    throw errors.invalidSyntax({ sentence: `schemas must contain ${schema}.` })
}

/** Parses a boolean, which Entra ID sends as a string. Returns undefined for other values. */
export function parseBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' ? value.toLowerCase() : ''
  return word === 'true' ? true : word === 'false' ? false : undefined
}

/** Attributes that a directory includes in or excludes from a response (RFC 7644 §3.9). */
export type Selection = { attributes?: string | undefined; excludedAttributes?: string | undefined }

/** Attributes that every response contains. */
const always = ['schemas', 'id']

type Resource = Record<string, unknown>

/** Selects the requested attributes of a resource: attributes, or sub-attributes such as `name.givenName`. */
export function selectOf(resource: Resource, { attributes, excludedAttributes }: Selection): Resource {
  const [requested, unwanted] = [namesIn(attributes), namesIn(excludedAttributes)]
  if (requested.length > 0)
    return pick(resource, '', (path) => requested.some((name) => `${path}.`.startsWith(`${name}.`)), requested)
  return pick(resource, '', (path) => !unwanted.includes(path))
}

function namesIn(list = ''): string[] {
  return list.split(',').flatMap((name) => (name.trim() === '' ? [] : [attributeKey(name.trim())]))
}

/** Selects attributes of an object, and sub-attributes where only those were requested. */
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
