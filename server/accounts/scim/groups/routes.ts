import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { urn } from '#platform/scim/message.ts'
import { parsePatch } from '#platform/scim/patch.ts'
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
import { groupPatchSchema, parseGroup } from './group.ts'
import { createGroup, deleteGroup, getGroup, listGroups, patchGroup, replaceGroup } from './provisioning.ts'

type Source = ReturnType<typeof sourceGuard>

/** Registers the routes of groups (RFC 7644 §3). */
export function groupRoutes(host: Host, kernel: ServerContext, source: Source): void {
  const { clock } = kernel
  const one = { url: '/scim/v2/Groups/:id', config, onRequest: source.onRequest }

  host.route({
    ...one,
    method: 'GET',
    schema: { params: ByResource, querystring: Selecting },
    async handler(request, reply) {
      const group = await getGroup(kernel, source.of(request), request.params.id.toLowerCase(), request.query)
      return sendResource(request, reply, group, request.query)
    },
  })

  host.route({
    ...one,
    method: 'PUT',
    schema: { params: ByResource, querystring: Selecting },
    async handler(request, reply) {
      const target = { id: request.params.id.toLowerCase(), ifMatch: request.headers['if-match'] }
      const sent = parseGroup(attributesIn(request, urn.group))
      const group = await replaceGroup(kernel, source.of(request), { ...sent, ...target }, clock())
      return sendResource(request, reply, group, request.query)
    },
  })

  host.route({
    ...one,
    method: 'PATCH',
    schema: { params: ByResource, querystring: Selecting },
    async handler(request, reply) {
      const target = { id: request.params.id.toLowerCase(), ifMatch: request.headers['if-match'] }
      const operations = parsePatch(request.body, groupPatchSchema)
      const group = await patchGroup(kernel, source.of(request), { ...target, operations }, clock())
      // Without its members, the answer would look as if the group had none (RFC 7644 §3.5.2).
      if (group.members) return sendResource(request, reply, group, request.query)
      return reply.status(204).header('etag', group.meta.version).send(null)
    },
  })

  host.route({
    ...one,
    method: 'DELETE',
    schema: { params: ByResource },
    async handler(request, reply) {
      const target = { id: request.params.id.toLowerCase(), ifMatch: request.headers['if-match'] }
      await deleteGroup(kernel, source.of(request), target, clock())
      return reply.status(204).send(null)
    },
  })
  groupListRoutes(host, kernel, source)
}

function groupListRoutes(host: Host, kernel: ServerContext, source: Source): void {
  const all = { url: '/scim/v2/Groups', config, onRequest: source.onRequest }

  host.route({
    ...all,
    method: 'GET',
    schema: { querystring: Listing },
    async handler(request, reply) {
      const query = queryOf(request.query)
      return sendList(reply, await listGroups(kernel, source.of(request), query), query)
    },
  })

  host.route({
    ...all,
    url: '/scim/v2/Groups/.search',
    method: 'POST',
    async handler(request, reply) {
      const query = parseSearch(request.body)
      return sendList(reply, await listGroups(kernel, source.of(request), query), query)
    },
  })

  host.route({
    ...all,
    method: 'POST',
    schema: { querystring: Selecting },
    async handler(request, reply) {
      const sent = parseGroup(attributesIn(request, urn.group))
      return sendCreated(
        request,
        reply,
        await createGroup(kernel, source.of(request), sent, kernel.clock()),
        request.query,
      )
    },
  })
}
