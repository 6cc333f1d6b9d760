import type { Dialect } from '#platform/http/http.ts'
import { refusals } from '#platform/refusal.ts'

/** The names that SCIM has for what it sends (RFC 7643 §8, RFC 7644 §8.2). */
export const urn = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  resourceType: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
  serviceProvider: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  search: 'urn:ietf:params:scim:api:messages:2.0:SearchRequest',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
} as const

/** What SCIM has a word for (`scimType`, RFC 7644 §3.12), under that word. */
const words = {
  invalidFilter: [400, 'Filter by userName eq, externalId eq or id eq, and one text in quotation marks.'],
  invalidPath: [
    400,
    'A path names an attribute, and of it a part if need be: name.givenName, or emails with a filter.',
  ],
  invalidSyntax: [400, 'This is not a message of SCIM 2.0 that belongs here.'],
  invalidValue: [400, 'A value is missing, or is not of the kind that it must be.'],
  mutability: [400, 'This attribute is not to be taken away.'],
  noTarget: [400, 'What is to be removed must be named by a path.'],
  uniqueness: [409, 'Somebody else of this connection has this userName, or is who the provider means by this.'],
} as const
export const refuse = refusals(words)

/** How everything about SCIM is said: in its own media type, refusals too. */
export const scimDialect: Dialect = {
  mediaType: 'application/scim+json',
  tell: ({ status, code, message }) => ({
    schemas: [urn.error],
    status: String(status),
    ...(Object.hasOwn(words, code) && { scimType: code }),
    detail: message,
  }),
}

/** Where the directory of an organization finds us. */
export function scimUrlOf({ origin }: URL, connectionId: string): string {
  return `${origin}/scim/v2/${connectionId}`
}
