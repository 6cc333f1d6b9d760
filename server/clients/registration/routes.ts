import * as endpoints from '@countersign/protocol/clients/apps'
import type { NewApp } from '@countersign/protocol/clients/apps'
import type { IdentityId } from '@countersign/protocol/ids'
import * as developer from '@countersign/protocol/clients/developer'
import { limits } from '@countersign/protocol/formats/limits'
import { ownKey } from '#accounts/sessions/own-key.ts'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { entityTagOf, opaqueVersionIn } from '#platform/http/entity-tag.ts'
import type { Host } from '#platform/http/host.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { acceptPictureBodies, countUpload, pictureBodyOf } from '#platform/pictures/upload.ts'
import type { Workshop } from '#platform/pictures/workshop.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import type { AppDirectory, ListedApp } from './directory.ts'
import { settingsOf } from './settings.ts'
import { updateApp, createApp, deleteApp, listAppsOf, getApp, readApps } from './app.ts'
import { removeIcon, setIcon, uploaderOf } from './icon.ts'
import { toApp } from './view/app-view.ts'
import {
  type AppManager,
  adminManagementApi,
  developerManagementApi,
  type EndpointShape,
  type ManagementApi,
} from './management.ts'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import { findLastSignIns, getAppUsage } from '#clients/usage/usage.ts'
import { rotateSecret } from '#clients/registration/authentication/secret.ts'

const appsDefault = 100

export type RegistrationServices = {
  kernel: ServerContext
  apps: AppDirectory
  lifecycle: Lifecycle
  workshop: Workshop
}

/** Registers the management of apps, for the operator and for developers. */
export function appRoutes(host: Host, services: RegistrationServices): void {
  const { kernel } = services
  mountCreation(host, services)
  mountOperations(host, services, ofOperator(kernel))
  mountList(host, kernel)
  if (!kernel.config.developerPortal) return
  mountOperations(host, services, ofPerson(kernel))
  mountOwnList(host, kernel)
  mountOwnUsage(host, kernel)
}

/** Registers the paginated list of all apps. */
function mountList(host: Host, kernel: ServerContext): void {
  host.route({
    ...endpoints.listApps,
    onRequest: adminGuard(kernel).onRequest,
    async handler({ query: { cursor, limit } }) {
      const { apps, nextCursor } = await readApps(kernel.db, { cursor, count: Number(limit ?? appsDefault) })
      return { apps: apps.map(toApp), nextCursor }
    },
  })
}

/** Registers the list of a user's own apps, which are few. */
function mountOwnList(host: Host, kernel: ServerContext): void {
  const { onRequest, of } = sessionGuard(kernel)
  host.route({
    ...developer.listOwnApps,
    onRequest,
    async handler(request) {
      const apps = await listAppsOf(kernel.db, of(request).userId)
      const lastSignIns = await findLastSignIns(
        kernel.db,
        apps.map(({ clientId }) => clientId),
      )
      const lastSignInAtOf = ({ clientId }: ListedApp) => lastSignIns.get(clientId)?.toISOString() ?? null
      return { apps: apps.map((app) => ({ ...toApp(app), lastSignInAt: lastSignInAtOf(app) })) }
    },
  })
}

/** Registers the usage of a user's own app. */
function mountOwnUsage(host: Host, kernel: ServerContext): void {
  const { onRequest, managerOf } = developerManagementApi(kernel)
  host.route({
    ...developer.getOwnAppUsage,
    onRequest,
    async handler(request) {
      const { clientId } = await getApp(kernel.db, { manager: managerOf(request), ...request.params })
      return getAppUsage(kernel.db, clientId, kernel.clock())
    },
  })
}

/** App endpoints of one kind of manager. */
type Operations = ManagementApi & {
  show: EndpointShape<typeof endpoints.getAdminApp>
  change: EndpointShape<typeof endpoints.updateApp>
  setIcon: EndpointShape<typeof endpoints.setAppIcon>
  removeIcon: EndpointShape<typeof endpoints.removeAppIcon>
  delete: EndpointShape<typeof endpoints.deleteApp>
  rotateSecret: EndpointShape<typeof endpoints.rotateAppSecret>
}

function ofOperator(kernel: ServerContext): Operations {
  return {
    ...adminManagementApi(kernel),
    show: endpoints.getAdminApp,
    change: endpoints.updateApp,
    setIcon: endpoints.setAppIcon,
    removeIcon: endpoints.removeAppIcon,
    delete: endpoints.deleteApp,
    rotateSecret: endpoints.rotateAppSecret,
  }
}

/** Returns the endpoints of the developer portal, for a user's own apps. */
function ofPerson(kernel: ServerContext): Operations {
  return {
    ...developerManagementApi(kernel),
    show: developer.getOwnApp,
    change: developer.updateOwnApp,
    setIcon: developer.setOwnAppIcon,
    removeIcon: developer.removeOwnAppIcon,
    delete: developer.deleteOwnApp,
    rotateSecret: developer.rotateOwnAppSecret,
  }
}

function mountOperations(host: Host, services: RegistrationServices, management: Operations): void {
  const { db } = services.kernel
  const { onRequest, managerOf } = management

  host.route({
    ...management.show,
    onRequest,
    async handler(request, reply) {
      const app = toApp(await getApp(db, { manager: managerOf(request), ...request.params }))
      return reply.header('etag', entityTagOf(app.version)).send(app)
    },
  })
  mountChanges(host, services, management)
  mountIcons(host, services, management)
}

/** Registers the endpoints that register an app, for the operator and, with an identity, for a user. */
function mountCreation(host: Host, { kernel, apps }: RegistrationServices): void {
  const operator = adminManagementApi(kernel)
  const person = developerManagementApi(kernel)

  async function create(body: NewApp, by: { manager: AppManager; identityId?: IdentityId | undefined }) {
    const { public: isPublic = false, name, redirectUris, ...rest } = body
    const settings = { ...settingsOf(rest), name, redirectUris }
    const { app, clientSecret } = await createApp(kernel, { ...by, isPublic }, settings, kernel.clock())
    apps.forget(app.clientId)
    return { ...toApp(app), ...(clientSecret !== undefined && { clientSecret }) }
  }

  host.route({
    ...endpoints.createApp,
    onRequest: operator.onChange,
    handler: async (request, reply) =>
      reply.status(201).send(await create(request.body, { manager: operator.managerOf(request) })),
  })
  if (!kernel.config.developerPortal) return

  host.route({
    ...developer.createOwnApp,
    onRequest: person.onChange,
    async handler(request, reply) {
      const { identityId, ...body } = request.body
      return reply.status(201).send(await create(body, { manager: person.managerOf(request), identityId }))
    },
  })
}

/** Registers the endpoints for the logo of an app. */
function mountIcons(host: Host, { kernel, apps, workshop }: RegistrationServices, management: Operations): void {
  const { clock, config, db } = kernel
  const { onChange, managerOf } = management

  host.route({
    ...management.removeIcon,
    onRequest: onChange,
    async handler(request) {
      const { clientId } = request.params
      const app = await removeIcon(kernel, { manager: managerOf(request), clientId }, clock())
      apps.forget(clientId)
      return toApp(app)
    },
  })

  host.register(async (scope) => {
    acceptPictureBodies(scope)
    scope.withTypeProvider<TypeBoxTypeProvider>().route({
      ...management.setIcon,
      bodyLimit: limits.pictureBytesMax,
      async onRequest(request, reply) {
        await onChange(request)
        const manager = managerOf(request)
        const counted = manager.actor === 'user' ? ownKey(manager.session, clock()) : undefined
        await countUpload(kernel.rateLimits, { by: uploaderOf(manager), counted }, reply)
      },
      async handler(request) {
        const { clientId } = request.params
        const target = { manager: managerOf(request), clientId }
        const app = await setIcon({ db, config, workshop }, target, pictureBodyOf(request), clock())
        apps.forget(clientId)
        return toApp(app)
      },
    })
  })
}

/** Registers the endpoints for changes that may have to apply in all processes before the response. */
function mountChanges(host: Host, { kernel, apps, lifecycle }: RegistrationServices, management: Operations): void {
  const { db, clock } = kernel
  const { onChange, managerOf, whileChanging } = management

  host.route({
    ...management.change,
    onRequest: onChange,
    handler: (request, reply) =>
      whileChanging(request, async () => {
        const { clientId } = request.params
        const version = opaqueVersionIn(request.headers['if-match'])
        const target = { manager: managerOf(request), clientId, version }
        const { app, isForAll } = await updateApp(kernel, target, settingsOf(request.body), clock())
        apps.forget(clientId)
        if (isForAll) await apps.forgetEverywhere(clientId)
        const changed = toApp(app)
        return reply.header('etag', entityTagOf(changed.version)).send(changed)
      }),
  })

  host.route({
    ...management.delete,
    onRequest: onChange,
    handler: (request, reply) =>
      whileChanging(request, async () => {
        const { clientId } = request.params
        await deleteApp({ db, lifecycle }, { manager: managerOf(request), clientId }, clock())
        await apps.forgetEverywhere(clientId)
        return reply.status(204).send(null)
      }),
  })

  host.route({
    ...management.rotateSecret,
    onRequest: onChange,
    handler: (request, reply) =>
      whileChanging(request, async () => {
        const { clientId } = request.params
        const graceSeconds = request.body?.graceSeconds ?? 0
        const target = { manager: managerOf(request), clientId }
        const { clientSecret, previousUntil } = await rotateSecret(db, target, graceSeconds, clock())
        await apps.forgetEverywhere(clientId)
        return reply.status(201).send({ clientId, clientSecret, previousUntil: previousUntil.toISOString() })
      }),
  })
}
