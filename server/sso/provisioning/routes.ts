import { limits } from '@countersign/protocol/formats/limits'
import { Uuid } from '@countersign/protocol/values'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { guard } from '#platform/http/guard.ts'
import { bearerToken, type Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { refusals } from '#platform/refusal.ts'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { addPerson, changePerson, findPeople, readPerson, removePerson } from './provisioned-user.ts'
import { proveDirectory, requireDirectory, type Provisioning } from './directory.ts'
import { readAttributes, requireSchema } from './scim-attributes.ts'
import { listResponse, serviceProviderConfig, userResourceType, userSchema } from './discovery.ts'
import { readFilter } from './scim-filter.ts'
import { patchUser } from './patch.ts'
import { parseSearch, type Query } from './scim-search.ts'
import { selectOf } from './scim-selection.ts'
import { readUser, tellUser, type ScimUser } from './user.ts'
import { refuse as refuseMessage, scimDialect, scimUrlOf, urn } from './scim.ts'

const ByConnection = Type.Object({ connectionId: Type.String() })
const ByPerson = Type.Object({ ...ByConnection.properties, personId: Uuid })
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
const refuse = refusals({
  not_found: [404, 'There is nothing at this address.'],
  schema_not_found: [404, 'There is one schema here, that of users.'],
})

const config = { security: 'none', cors: 'no origin', host: 'api', dialect: scimDialect } as const

/**
 * SCIM 2.0 (RFC 7644) for the directory of an organization: who may come by a connection. It describes itself, so it is
 * not in the OpenAPI document, and what is refused is told as SCIM tells it.
 */
export function scimRoutes(host: Host, kernel: Kernel): void {
  const directory = directoryGuard(kernel)
  describingRoutes(host, kernel, directory)
  userRoutes(host, kernel, directory)
  userListRoutes(host, kernel, directory)
}

type Directory = ReturnType<typeof directoryGuard>

/** Lets through whoever has the token of the connection in the path. */
function directoryGuard(kernel: Kernel) {
  const claimOf = (request: FastifyRequest) => {
    const { connectionId } = Value.Parse(ByConnection, request.params)
    return { connectionId: connectionId.toLowerCase(), token: bearerToken(request), address: addressKey(request) }
  }
  return guard(
    (request) => requireDirectory(kernel, claimOf(request)),
    (request) => proveDirectory(kernel, claimOf(request)),
  )
}

/** What there is, and how it looks. */
function describingRoutes(host: Host, { config: { baseUrl } }: Kernel, directory: Directory): void {
  type Describe = (baseUrl: URL, asked: Provisioning) => object
  const listed = (describe: Describe) => (url: URL, asked: Provisioning) => listResponse([describe(url, asked)])
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
      if (request.params.schema.toLowerCase() !== urn.user.toLowerCase()) throw refuse.schema_not_found()
      return say(reply, userSchema(baseUrl, directory.of(request)))
    },
  })

  host.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: '/scim/v2/:connectionId/*',
    config,
    onRequest: directory.onRequest,
    handler() {
      throw refuse.not_found()
    },
  })
}

/** Somebody, by their id. */
function userRoutes(host: Host, kernel: Kernel, directory: Directory): void {
  const { db, clock } = kernel
  const { baseUrl } = kernel.config
  const one = { url: '/scim/v2/:connectionId/Users/:personId', config, onRequest: directory.onRequest }

  host.route({
    ...one,
    method: 'GET',
    schema: { params: ByPerson, querystring: Selecting },
    async handler(request, reply) {
      const person = await readPerson(db, directory.of(request), request.params.personId)
      return say(reply, selectOf(tellUser(baseUrl, person), request.query))
    },
  })

  host.route({
    ...one,
    method: 'PUT',
    schema: { params: ByPerson, querystring: Selecting },
    async handler(request, reply) {
      const sent = userIn(request)
      const changing = { personId: request.params.personId, change: (before: ScimUser) => readUser(sent, before) }
      const person = await changePerson(kernel, directory.of(request), changing, clock())
      return say(reply, selectOf(tellUser(baseUrl, person), request.query))
    },
  })

  host.route({
    ...one,
    method: 'PATCH',
    schema: { params: ByPerson, querystring: Selecting },
    async handler(request, reply) {
      const { personId } = request.params
      const changing = { personId, change: (before: ScimUser) => patchUser(before, request.body) }
      const person = await changePerson(kernel, directory.of(request), changing, clock())
      return say(reply, selectOf(tellUser(baseUrl, person), request.query))
    },
  })

  host.route({
    ...one,
    method: 'DELETE',
    schema: { params: ByPerson },
    async handler(request, reply) {
      await removePerson(kernel, directory.of(request), request.params.personId, clock())
      return reply.status(204).send(null)
    },
  })
}

/** Everybody, and who is new. */
function userListRoutes(host: Host, kernel: Kernel, directory: Directory): void {
  const { db, clock } = kernel
  const { baseUrl } = kernel.config
  const all = { url: '/scim/v2/:connectionId/Users', config, onRequest: directory.onRequest }

  async function list(asking: Provisioning, query: Query) {
    const { filter, startIndex = 1, count = 100 } = query
    const first = Math.max(1, startIndex)
    const most = Math.min(limits.provisionedPeoplePageMax, Math.max(0, count))
    const sought = filter === undefined ? undefined : readFilter(filter)
    const found = await findPeople(db, asking, sought, { skipped: first - 1, most })
    const resources = found.people.map((person) => selectOf(tellUser(baseUrl, person), query))
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

  // The same as a message, so that nobody's name stands in an address (RFC 7644 §3.4.3).
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
      const person = await addPerson(kernel, directory.of(request), readUser(userIn(request)), clock())
      const { connectionId, personId } = person
      reply.status(201).header('location', `${scimUrlOf(baseUrl, connectionId)}/Users/${personId}`)
      return say(reply, selectOf(tellUser(baseUrl, person), request.query))
    },
  })
}

/** The attributes of the user in a body. Refuses `invalidSyntax` where it is none. */
function userIn({ body }: Pick<FastifyRequest, 'body'>) {
  if (body === undefined) throw refuseMessage.invalidSyntax()
  const attributes = readAttributes(body)
  requireSchema(attributes, urn.user)
  return attributes
}

function say(reply: FastifyReply, message: object) {
  return reply.type(scimDialect.mediaType).send(message)
}
