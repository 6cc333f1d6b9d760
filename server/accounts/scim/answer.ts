import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { type Attributes, errors, parseAttributes, requireSchema, scimDialect } from '#platform/scim/message.ts'
import { type Selection, selectOf } from '#platform/scim/message.ts'
import type { listResponse } from '#platform/scim/schema.ts'
import type { Query } from '#platform/scim/search.ts'
import { namesEntityTag } from '#platform/http/entity-tag.ts'

/** Configuration of all SCIM routes. SCIM describes itself, so they are not in the OpenAPI document. */
export const config = { security: 'none', cors: 'no origin', host: 'api', dialect: scimDialect } as const

export const Selecting = Type.Object({
  attributes: Type.Optional(Type.String({ maxLength: 1000 })),
  excludedAttributes: Type.Optional(Type.String({ maxLength: 1000 })),
})

export const Listing = Type.Object({
  ...Selecting.properties,
  filter: Type.Optional(Type.String()),
  sortBy: Type.Optional(Type.String({ maxLength: 200 })),
  sortOrder: Type.Optional(Type.String({ maxLength: 20 })),
  startIndex: Type.Optional(Type.String({ pattern: '^-?\\d{1,9}$' })),
  count: Type.Optional(Type.String({ pattern: '^-?\\d{1,9}$' })),
})

export const ByResource = Type.Object({ id: Type.String() })

/** Reads the query of a list. */
export function queryOf({ startIndex, count, ...query }: Static<typeof Listing>): Query {
  return {
    ...query,
    ...(startIndex !== undefined && { startIndex: Number(startIndex) }),
    ...(count !== undefined && { count: Number(count) }),
  }
}

type Resource = Record<string, unknown> & { id: string; meta: { version: string; location: string } }

/** Answers with a message of the SCIM media type. */
export function sendMessage(reply: FastifyReply, message: object) {
  return reply.type(scimDialect.mediaType).send(message)
}

/** Answers with the requested attributes of a resource and its entity tag, or 304 for one that the sender has. */
export function sendResource(request: FastifyRequest, reply: FastifyReply, resource: Resource, selection: Selection) {
  const { version } = resource.meta
  reply.header('etag', version)
  const isRead = request.method === 'GET' && namesEntityTag(request.headers['if-none-match'], version)
  return isRead ? reply.status(304).send(null) : sendMessage(reply, selectOf(resource, selection))
}

/** Answers with a new resource and where it is. */
export function sendCreated(request: FastifyRequest, reply: FastifyReply, resource: Resource, selection: Selection) {
  reply.status(201).header('location', resource.meta.location)
  return sendResource(request, reply, resource, selection)
}

type Listed = { page: ReturnType<typeof listResponse>; resources: Record<string, unknown>[] }

/** Answers with a page of resources. */
export function sendList(reply: FastifyReply, { page, resources }: Listed, selection: Selection) {
  const Resources = resources.map((resource) => selectOf(resource, selection))
  return sendMessage(reply, { ...page, itemsPerPage: Resources.length, Resources })
}

/** Parses the attributes of a resource in a body. Throws `invalidSyntax` for another schema. */
export function attributesIn({ body }: Pick<FastifyRequest, 'body'>, schema: string): Attributes {
  if (body === undefined) throw errors.invalidSyntax()
  const attributes = parseAttributes(body)
  requireSchema(attributes, schema)
  return attributes
}
