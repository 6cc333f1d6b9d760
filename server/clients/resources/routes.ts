import { getApp } from '@countersign/protocol/clients/apps'
import * as developer from '@countersign/protocol/clients/developer'
import * as endpoints from '@countersign/protocol/clients/resources'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { requireApp } from '#clients/registration/app.ts'
import { toPublicApp } from '#clients/registration/view/app-view.ts'
import type { AppDirectory } from '#clients/registration/directory.ts'
import {
  adminManagementApi,
  developerManagementApi,
  type EndpointShape,
  type ManagementApi,
} from '#clients/registration/management.ts'
import type { ResourceDirectory } from './settings.ts'
import { updateResource, createResource, listResources, toResource, toResourceMetadata } from './resource.ts'

export type Services = { kernel: ServerContext; apps: AppDirectory; resources: ResourceDirectory }

/** Registers the public metadata of apps and resources, and the management of resources. */
export function resourceRoutes(host: Host, { kernel, apps, resources }: Services): void {
  host.route({
    ...getApp,
    async handler(request) {
      await kernel.rateLimits.count('metadata', clientAddressKey(request))
      const app = requireApp(await apps.find(request.params.clientId))
      return { app: toPublicApp(app), resources: (await resources.listOf(app.clientId)).map(toResource) }
    },
  })
  host.route({
    ...endpoints.getResourceMetadata,
    async handler(request) {
      await kernel.rateLimits.count('metadata', clientAddressKey(request))
      const resource = await resources.find(request.params.resourceKey)
      return { resource: toResourceMetadata(resource, resource && (await apps.find(resource.clientId))) }
    },
  })
  mountOperations(host, kernel, resources, ofOperator(kernel))
  if (kernel.config.developerPortal) mountOperations(host, kernel, resources, ofPerson(kernel))
}

/** Resource endpoints of one kind of manager. */
type Operations = ManagementApi & {
  create: EndpointShape<typeof endpoints.createResource>
  list: EndpointShape<typeof endpoints.listResources>
  change: EndpointShape<typeof endpoints.updateResource>
}

function ofOperator(kernel: ServerContext): Operations {
  return {
    ...adminManagementApi(kernel),
    create: endpoints.createResource,
    list: endpoints.listResources,
    change: endpoints.updateResource,
  }
}

/** Returns the endpoints of the developer portal, for the resources of a user's own apps. */
function ofPerson(kernel: ServerContext): Operations {
  return {
    ...developerManagementApi(kernel),
    create: developer.createOwnResource,
    list: developer.listOwnResources,
    change: developer.updateOwnResource,
  }
}

function mountOperations(
  host: Host,
  { db, config, clock }: ServerContext,
  resources: ResourceDirectory,
  management: Operations,
): void {
  const { onRequest, onChange, managerOf, whileChanging } = management

  host.route({
    ...management.create,
    onRequest: onChange,
    async handler(request, reply) {
      const { clientId } = request.params
      const target = { manager: managerOf(request), clientId }
      const resource = await createResource({ db, config }, target, request.body, clock())
      resources.forget({ clientId, ...resource })
      return reply.status(201).send(resource)
    },
  })

  host.route({
    ...management.list,
    onRequest,
    async handler(request) {
      return { resources: await listResources(db, { manager: managerOf(request), ...request.params }) }
    },
  })

  host.route({
    ...management.change,
    onRequest: onChange,
    handler: (request) =>
      whileChanging(request, async () => {
        const target = { manager: managerOf(request), ...request.params }
        const { resource, isForAll } = await updateResource({ db, config }, target, request.body, clock())
        resources.forget(request.params)
        if (isForAll) await resources.forgetEverywhere(request.params)
        return resource
      }),
  })
}
