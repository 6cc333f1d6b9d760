import * as developer from '@countersign/protocol/clients/developer'
import * as endpoints from '@countersign/protocol/clients/resources'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import type { AppDirectory } from '#clients/registration/app-directory.ts'
import { operatorDesk, personDesk, type Addressed, type Desk } from '#clients/registration/desk.ts'
import type { ResourceDirectory } from './resource-directory.ts'
import { changeResource, createResource, listResources, toOwnedResource } from './resource.ts'

export function resourceRoutes(host: Host, kernel: Kernel, apps: AppDirectory, resources: ResourceDirectory): void {
  host.route({
    ...endpoints.readResource,
    async handler(request) {
      await kernel.rateLimits.count('metadata', addressKey(request))
      const resource = await resources.find(request.params.resourceKey)
      return { resource: toOwnedResource(resource, resource && (await apps.find(resource.clientId))) }
    },
  })
  mountDesk(host, kernel, resources, ofOperator(kernel))
  if (kernel.config.developerPortal) mountDesk(host, kernel, resources, ofPerson(kernel))
}

/** The operations on resources at the addresses of one kind of steward. */
type Operations = Desk & {
  create: Addressed<typeof endpoints.createResource>
  list: Addressed<typeof endpoints.listResources>
  change: Addressed<typeof endpoints.changeResource>
}

function ofOperator(kernel: Kernel): Operations {
  return {
    ...operatorDesk(kernel),
    create: endpoints.createResource,
    list: endpoints.listResources,
    change: endpoints.changeResource,
  }
}

/** The developer portal: the resources of a person's own apps. */
function ofPerson(kernel: Kernel): Operations {
  return {
    ...personDesk(kernel),
    create: developer.createOwnResource,
    list: developer.listOwnResources,
    change: developer.changeOwnResource,
  }
}

function mountDesk(host: Host, { db, config, clock }: Kernel, resources: ResourceDirectory, desk: Operations): void {
  const { onRequest, onChange, stewardOf, whileChanging } = desk

  host.route({
    ...desk.create,
    onRequest: onChange,
    async handler(request, reply) {
      const { clientId } = request.params
      const sought = { steward: stewardOf(request), clientId }
      const resource = await createResource({ db, config }, sought, request.body, clock())
      resources.forget({ clientId, ...resource })
      return reply.status(201).send(resource)
    },
  })

  host.route({
    ...desk.list,
    onRequest,
    async handler(request) {
      return { resources: await listResources(db, { steward: stewardOf(request), ...request.params }) }
    },
  })

  host.route({
    ...desk.change,
    onRequest: onChange,
    handler: (request) =>
      whileChanging(request, async () => {
        const sought = { steward: stewardOf(request), ...request.params }
        const { resource, isForAll } = await changeResource({ db, config }, sought, request.body, clock())
        resources.forget(request.params)
        if (isForAll) await resources.forgetEverywhere(request.params)
        return resource
      }),
  })
}
