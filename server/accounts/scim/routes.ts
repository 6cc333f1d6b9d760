import { Type } from 'typebox'
import { defineErrors } from '#platform/api-error.ts'
import type { Host } from '#platform/http/host.ts'
import { listResponse } from '#platform/scim/schema.ts'
import { parseSearch } from '#platform/scim/search.ts'
import { config, sendList, sendMessage } from './answer.ts'
import { groupRoutes } from './groups/routes.ts'
import { resourceTypes, schemas, serviceProviderConfig } from './discovery.ts'
import { listResources } from './search-all.ts'
import { sourceGuard } from './source.ts'
import { scimUrlOf } from './token.ts'
import type { ScimServices } from './users/provisioning.ts'
import { userRoutes } from './users/routes.ts'

const errors = defineErrors({
  not_found: [404, 'Not found.'],
  method_not_allowed: [405, 'Method not allowed. See the Allow header.'],
  not_implemented: [501, '/Me and bulk operations are not supported.'],
})

const Named = Type.Object({ name: Type.String() })

type Source = ReturnType<typeof sourceGuard>

/** Registers SCIM 2.0 of the service (RFC 7644), for directories with a SCIM token. */
export function scimRoutes(host: Host, services: ScimServices): void {
  const source = sourceGuard(services.kernel)
  describingRoutes(host, services, source)
  userRoutes(host, services, source)
  groupRoutes(host, services.kernel, source)
  otherRoutes(host, services, source)
}

/** Registers what SCIM says of itself (RFC 7644 §4). */
function describingRoutes(host: Host, { kernel }: ScimServices, { onRequest }: Source): void {
  const url = scimUrlOf(kernel.config)
  const documents = new Map<string, object>([
    ['ServiceProviderConfig', serviceProviderConfig(url)],
    ['ResourceTypes', listResponse(resourceTypes(url))],
    ['Schemas', listResponse(schemas(url))],
  ])
  for (const [path, document] of documents)
    host.route({
      ...{ method: 'GET', url: `/scim/v2/${path}`, config, onRequest },
      handler: (_, reply) => sendMessage(reply, document),
    })

  for (const [path, described] of [
    ['ResourceTypes', resourceTypes(url)],
    ['Schemas', schemas(url)],
  ] as const)
    host.route({
      ...{ method: 'GET', url: `/scim/v2/${path}/:name`, config, onRequest },
      schema: { params: Named },
      handler(request, reply) {
        const name = request.params.name.toLowerCase()
        const found = described.find(({ id }) => id.toLowerCase() === name)
        if (!found) throw errors.not_found()
        return sendMessage(reply, found)
      },
    })
}

const methods: ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Registers the search in all resources, and what is not supported. */
function otherRoutes(host: Host, { kernel }: ScimServices, source: Source): void {
  const { onRequest } = source

  host.route({
    ...{ method: 'POST', url: '/scim/v2/.search', config, onRequest },
    async handler(request, reply) {
      const query = parseSearch(request.body)
      return sendList(reply, await listResources(kernel, source.of(request), query, kernel.clock()), query)
    },
  })

  for (const url of ['/scim/v2/Me', '/scim/v2/Bulk'])
    host.route({
      ...{ method: methods, url, config, onRequest },
      handler() {
        throw errors.not_implemented()
      },
    })

  for (const path of ['ServiceProviderConfig', 'ResourceTypes', 'Schemas', 'Users', 'Groups']) {
    const allowed = path === 'Users' || path === 'Groups' ? ['GET', 'POST'] : ['GET']
    host.route({
      ...{ method: methods.filter((each) => !allowed.includes(each)), url: `/scim/v2/${path}`, config, onRequest },
      handler() {
        throw errors.method_not_allowed({ headers: { allow: allowed.join(', ') } })
      },
    })
  }

  host.route({
    ...{ method: methods, url: '/scim/v2/:name', config, onRequest },
    handler() {
      throw errors.not_found()
    },
  })
}
