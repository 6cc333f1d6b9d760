import * as endpoints from '@countersign/protocol/organizations/sso'
import { limits } from '@countersign/protocol/formats/limits'
import { Uuid } from '@countersign/protocol/values'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { guard } from '#platform/http/guard.ts'
import { type Host, bearerToken } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { defineErrors } from '#platform/api-error.ts'
import { scimUrlOf } from '#sso/connections/settings.ts'
import { Type } from 'typebox'
import { createScimUser, deleteScimUser, getScimUser, listScimUsers, updateScimUser } from './provisioned-user.ts'
import { type ScimDirectory, createScimToken, deleteScimToken, proveDirectory, requireScimToken } from './directory.ts'
import { signable, signableRoutes } from '#organizations/acts/signable.ts'
import {
  parseAttributes,
  errors as messageErrors,
  requireSchema,
  scimDialect,
  selectOf,
  urn,
} from '#platform/scim/message.ts'
import { listResponse } from '#platform/scim/schema.ts'
import { serviceProviderConfig, userResourceType, userSchema } from './discovery.ts'
import { parseFilter } from './filter.ts'
import { patchUser } from './patch.ts'
import { type Query, parseSearch } from '#platform/scim/search.ts'
import { parse } from '#platform/schema.ts'
import { type ScimUser, parseScimUser, toScimUser } from './user.ts'

const ByConnection = Type.Object({ connectionId: Type.String() })
const ByPerson = Type.Object({ ...ByConnection.properties, scimUserId: Uuid })
const BySchema = Type.Object({ ...ByConnection.properties, schema: Type.String() })
const Selecting = Type.Object({
  attributes: Type.Optional(Type.String({ maxLength: 1000 })),
  excludedAttributes: Type.Optional(Type.String({ maxLength: 1000 })),
})
const Listing = Type.Object({
  ...Selecting.properties,
  filter: Type.Optional(Type.String({ maxLength: 1000 })),
  startIndex: Type.Optional(Type.String({ pattern: '^-?\\d{1,9}$' })),
  count: Type.Optional(Type.String({ pattern: '^-?\\d{1,9}$' })),
})
const errors = defineErrors({
  not_found: [404, 'Not found.'],
  schema_not_found: [404, 'Only the User schema is supported.'],
})

const config = { security: 'none', cors: 'no origin', host: 'api', dialect: scimDialect } as const

/**
 * Routes of SCIM 2.0 (RFC 7644) for the directory of an organization. SCIM describes itself, so the routes are not in
 * the OpenAPI document, and errors have the SCIM format.
 */
export function scimRoutes(host: Host, kernel: ServerContext): void {
  const directory = directoryGuard(kernel)
  describingRoutes(host, kernel, directory)
  userRoutes(host, kernel, directory)
  userListRoutes(host, kernel, directory)
}

type Directory = ReturnType<typeof directoryGuard>

/** Authenticates requests with the SCIM token of the connection in the path. */
function directoryGuard(kernel: ServerContext) {
  const claimOf = (request: FastifyRequest) => {
    const { connectionId } = parse(ByConnection, request.params)
    return { connectionId: connectionId.toLowerCase(), token: bearerToken(request), address: clientAddressKey(request) }
  }
  return guard(
    (request) => requireScimToken(kernel, claimOf(request)),
    (request) => proveDirectory(kernel, claimOf(request)),
  )
}

/** Routes for SCIM discovery. */
function describingRoutes(host: Host, { config: { baseUrl } }: ServerContext, directory: Directory): void {
  type Describe = (baseUrl: URL, requested: ScimDirectory) => object
  const listed = (describe: Describe) => (url: URL, requested: ScimDirectory) =>
    listResponse([describe(url, requested)])
  const documents: Record<string, Describe> = {
    ServiceProviderConfig: serviceProviderConfig,
    ResourceTypes: listed(userResourceType),
    'ResourceTypes/User': userResourceType,
    Schemas: listed(userSchema),
  }
  for (const [path, describe] of Object.entries(documents))
    host.route({
      method: 'GET',
      url: `/scim/v2/:connectionId/${path}`,
      config,
      onRequest: directory.onRequest,
      handler: (request, reply) => say(reply, describe(baseUrl, directory.of(request))),
    })

  host.route({
    method: 'GET',
    url: '/scim/v2/:connectionId/Schemas/:schema',
    config,
    onRequest: directory.onRequest,
    schema: { params: BySchema },
    handler(request, reply) {
      if (request.params.schema.toLowerCase() !== urn.user.toLowerCase()) throw errors.schema_not_found()
      return say(reply, userSchema(baseUrl, directory.of(request)))
    },
  })

  host.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: '/scim/v2/:connectionId/*',
    config,
    onRequest: directory.onRequest,
    handler() {
      throw errors.not_found()
    },
  })
}

/** Routes for a single user by id. */
function userRoutes(host: Host, kernel: ServerContext, directory: Directory): void {
  const { db, clock } = kernel
  const { baseUrl } = kernel.config
  const one = { url: '/scim/v2/:connectionId/Users/:scimUserId', config, onRequest: directory.onRequest }

  host.route({
    ...one,
    method: 'GET',
    schema: { params: ByPerson, querystring: Selecting },
    async handler(request, reply) {
      const person = await getScimUser(db, directory.of(request), request.params.scimUserId)
      return say(reply, selectOf(toScimUser(baseUrl, person), request.query))
    },
  })

  host.route({
    ...one,
    method: 'PUT',
    schema: { params: ByPerson, querystring: Selecting },
    async handler(request, reply) {
      const sent = userIn(request)
      const changing = {
        scimUserId: request.params.scimUserId,
        change: (before: ScimUser) => parseScimUser(sent, before),
      }
      const person = await updateScimUser(kernel, directory.of(request), changing, clock())
      return say(reply, selectOf(toScimUser(baseUrl, person), request.query))
    },
  })

  host.route({
    ...one,
    method: 'PATCH',
    schema: { params: ByPerson, querystring: Selecting },
    async handler(request, reply) {
      const { scimUserId } = request.params
      const changing = { scimUserId, change: (before: ScimUser) => patchUser(before, request.body) }
      const person = await updateScimUser(kernel, directory.of(request), changing, clock())
      return say(reply, selectOf(toScimUser(baseUrl, person), request.query))
    },
  })

  host.route({
    ...one,
    method: 'DELETE',
    schema: { params: ByPerson },
    async handler(request, reply) {
      await deleteScimUser(kernel, directory.of(request), request.params.scimUserId, clock())
      return reply.status(204).send(null)
    },
  })
}

/** Routes for listing and creating users. */
function userListRoutes(host: Host, kernel: ServerContext, directory: Directory): void {
  const { db, clock } = kernel
  const { baseUrl } = kernel.config
  const all = { url: '/scim/v2/:connectionId/Users', config, onRequest: directory.onRequest }

  async function list(asking: ScimDirectory, query: Query) {
    const { filter, startIndex = 1, count = 100 } = query
    const first = Math.max(1, startIndex)
    const most = Math.min(limits.provisionedPeoplePageMax, Math.max(0, count))
    const target = filter === undefined ? undefined : parseFilter(filter)
    const found = await listScimUsers(db, asking, target, { skipped: first - 1, most })
    const resources = found.people.map((person) => selectOf(toScimUser(baseUrl, person), query))
    return listResponse(resources, found.total, first)
  }

  host.route({
    ...all,
    method: 'GET',
    schema: { params: ByConnection, querystring: Listing },
    async handler(request, reply) {
      const { startIndex = '1', count = '100', ...query } = request.query
      const listed = { ...query, startIndex: Number(startIndex), count: Number(count) }
      return say(reply, await list(directory.of(request), listed))
    },
  })

  // Search by POST keeps names of users out of URLs (RFC 7644 §3.4.3).
  for (const url of [`${all.url}/.search`, '/scim/v2/:connectionId/.search'])
    host.route({
      ...all,
      url,
      method: 'POST',
      async handler(request, reply) {
        return say(reply, await list(directory.of(request), parseSearch(request.body)))
      },
    })

  host.route({
    ...all,
    method: 'POST',
    schema: { params: ByConnection, querystring: Selecting },
    async handler(request, reply) {
      const person = await createScimUser(kernel, directory.of(request), parseScimUser(userIn(request)), clock())
      const { connectionId, scimUserId } = person
      reply.status(201).header('location', `${scimUrlOf(baseUrl, connectionId)}/Users/${scimUserId}`)
      return say(reply, selectOf(toScimUser(baseUrl, person), request.query))
    },
  })
}

/** Parses the user attributes of a body. Throws `invalidSyntax` if it is not a user. */
function userIn({ body }: Pick<FastifyRequest, 'body'>) {
  if (body === undefined) throw messageErrors.invalidSyntax()
  const attributes = parseAttributes(body)
  requireSchema(attributes, urn.user)
  return attributes
}

function say(reply: FastifyReply, message: object) {
  return reply.type(scimDialect.mediaType).send(message)
}

type Provisioning = { kernel: ServerContext }

/** What members may have to sign. */
export const acts = [
  signable(endpoints.createScimToken, ({ kernel }: Provisioning, { asking, params, body }, now) =>
    createScimToken(kernel, { ...asking, ...params }, body.subjectBy, now),
  ),
  signable(endpoints.deleteScimToken, async ({ kernel }: Provisioning, { asking, params }, now) => {
    await deleteScimToken(kernel, { ...asking, ...params }, now)
    return null
  }),
]

/** Routes for the SCIM token of a connection, on the business host. */
export function scimTokenRoutes(host: Host, kernel: ServerContext): void {
  signableRoutes(host, { kernel }, acts)
}
