import type { FastifyRequest } from 'fastify'
import type { Host } from '#platform/http/host.ts'
import { parseAttributes, urn } from '#platform/scim/message.ts'
import { applyPatch, parsePatch } from '#platform/scim/patch.ts'
import { parseSearch } from '#platform/scim/search.ts'
import {
  attributesIn,
  ByResource,
  config,
  Listing,
  queryOf,
  Selecting,
  sendCreated,
  sendList,
  sendResource,
} from '../answer.ts'
import type { sourceGuard } from '../source.ts'
import { changeUser, createUser, deleteUser, getUser, type ScimServices } from './provisioning.ts'
import { attributesOf, parseUser, type ScimUser, userPatchSchema } from './user.ts'
import { listUsers } from './user-list.ts'

type Source = ReturnType<typeof sourceGuard>

/** Registers the routes of users (RFC 7644 §3). */
export function userRoutes(host: Host, services: ScimServices, source: Source): void {
  const { clock } = services.kernel
  const one = { url: '/scim/v2/Users/:id', config, onRequest: source.onRequest }

  host.route({
    ...one,
    method: 'GET',
    schema: { params: ByResource, querystring: Selecting },
    async handler(request, reply) {
      const user = await getUser(services, source.of(request), request.params.id.toLowerCase(), clock())
      return sendResource(request, reply, user, request.query)
    },
  })

  const change = (request: FastifyRequest, id: string, changed: (before: ScimUser) => ScimUser) => {
    const input = { id: id.toLowerCase(), ifMatch: request.headers['if-match'], change: changed }
    return changeUser(services, source.of(request), input, clock())
  }

  host.route({
    ...one,
    method: 'PUT',
    schema: { params: ByResource, querystring: Selecting },
    async handler(request, reply) {
      const sent = attributesIn(request, urn.user)
      const user = await change(request, request.params.id, (before) => parseUser(sent, before))
      return sendResource(request, reply, user, request.query)
    },
  })

  host.route({
    ...one,
    method: 'PATCH',
    schema: { params: ByResource, querystring: Selecting },
    async handler(request, reply) {
      const operations = parsePatch(request.body, userPatchSchema)
      const user = await change(request, request.params.id, (before) =>
        parseUser(applyPatch(parseAttributes(attributesOf(before)), operations, userPatchSchema), before),
      )
      return sendResource(request, reply, user, request.query)
    },
  })

  host.route({
    ...one,
    method: 'DELETE',
    schema: { params: ByResource },
    async handler(request, reply) {
      const input = { id: request.params.id.toLowerCase(), ifMatch: request.headers['if-match'] }
      await deleteUser(services, source.of(request), input, clock())
      return reply.status(204).send(null)
    },
  })
  userListRoutes(host, services, source)
}

function userListRoutes(host: Host, services: ScimServices, source: Source): void {
  const { kernel } = services
  const { clock } = kernel
  const all = { url: '/scim/v2/Users', config, onRequest: source.onRequest }

  host.route({
    ...all,
    method: 'GET',
    schema: { querystring: Listing },
    async handler(request, reply) {
      const query = queryOf(request.query)
      return sendList(reply, await listUsers(kernel, source.of(request), query, clock()), query)
    },
  })

  // Search by POST keeps names of users out of URLs (RFC 7644 §3.4.3).
  host.route({
    ...all,
    url: '/scim/v2/Users/.search',
    method: 'POST',
    async handler(request, reply) {
      const query = parseSearch(request.body)
      return sendList(reply, await listUsers(kernel, source.of(request), query, clock()), query)
    },
  })

  host.route({
    ...all,
    method: 'POST',
    schema: { querystring: Selecting },
    async handler(request, reply) {
      const user = parseUser(attributesIn(request, urn.user))
      return sendCreated(request, reply, await createUser(services, source.of(request), user, clock()), request.query)
    },
  })
}
