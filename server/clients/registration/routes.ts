import * as endpoints from '@countersign/protocol/clients/apps'
import * as developer from '@countersign/protocol/clients/developer'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import type { AppDirectory } from './app-directory.ts'
import type { AppSettings } from './app-settings.ts'
import {
  changeApp,
  createApp,
  deleteApp,
  listAppsOf,
  readApp,
  readApps,
  requireApp,
  toApp,
  toPublicApp,
} from './app.ts'
import { operatorDesk, personDesk, type Addressed, type Desk } from './desk.ts'
import { adminGuard } from '#platform/http/operator-guard.ts'
import { createResourceDirectory } from '#clients/resources/resource-directory.ts'
import { toResource } from '#clients/resources/resource.ts'
import { resourceRoutes } from '#clients/resources/resource-routes.ts'
import { rotateSecret } from './secret.ts'

const appsDefault = 100

export function appRoutes(host: Host, kernel: Kernel, apps: AppDirectory): void {
  const resources = createResourceDirectory(kernel)
  host.route({
    ...endpoints.readApp,
    async handler(request) {
      await kernel.rateLimits.count('metadata', addressKey(request))
      const app = requireApp(await apps.find(request.params.clientId))
      return { app: toPublicApp(app), resources: (await resources.listOf(app.clientId)).map(toResource) }
    },
  })
  resourceRoutes(host, kernel, apps, resources)
  mountOperations(host, kernel, apps, ofOperator(kernel))
  mountList(host, kernel)
  if (!kernel.config.developerPortal) return
  mountOperations(host, kernel, apps, ofPerson(kernel))
  mountOwnList(host, kernel)
}

/** All apps, a page at a time. */
function mountList(host: Host, kernel: Kernel): void {
  host.route({
    ...endpoints.listApps,
    onRequest: adminGuard(kernel).onRequest,
    async handler({ query: { cursor, limit } }) {
      const { apps, nextCursor } = await readApps(kernel.db, { cursor, count: Number(limit ?? appsDefault) })
      return { apps: apps.map(toApp), nextCursor }
    },
  })
}

/** The apps of a person, who has few. */
function mountOwnList(host: Host, kernel: Kernel): void {
  const { onRequest, of } = sessionGuard(kernel)
  host.route({
    ...developer.listOwnApps,
    onRequest,
    handler: async (request) => ({ apps: (await listAppsOf(kernel.db, of(request).userId)).map(toApp) }),
  })
}

/** The operations on apps at the addresses of one kind of steward. */
type Operations = Desk & {
  create: Addressed<typeof endpoints.createApp>
  show: Addressed<typeof endpoints.showApp>
  change: Addressed<typeof endpoints.changeApp>
  delete: Addressed<typeof endpoints.deleteApp>
  rotateSecret: Addressed<typeof endpoints.rotateAppSecret>
}

function ofOperator(kernel: Kernel): Operations {
  return {
    ...operatorDesk(kernel),
    create: endpoints.createApp,
    show: endpoints.showApp,
    change: endpoints.changeApp,
    delete: endpoints.deleteApp,
    rotateSecret: endpoints.rotateAppSecret,
  }
}

/** The developer portal: a person's own apps. */
function ofPerson(kernel: Kernel): Operations {
  return {
    ...personDesk(kernel),
    create: developer.createOwnApp,
    show: developer.showOwnApp,
    change: developer.changeOwnApp,
    delete: developer.deleteOwnApp,
    rotateSecret: developer.rotateOwnAppSecret,
  }
}

function mountOperations(host: Host, kernel: Kernel, apps: AppDirectory, desk: Operations): void {
  const { db, clock } = kernel
  const { onRequest, onChange, stewardOf } = desk

  host.route({
    ...desk.create,
    onRequest: onChange,
    async handler(request, reply) {
      const { public: isPublic = false, name, redirectUris, ...rest } = request.body
      const settings = { ...settingsOf(rest), name, redirectUris }
      const { app, clientSecret } = await createApp(
        kernel,
        { steward: stewardOf(request), isPublic },
        settings,
        clock(),
      )
      apps.forget(app.clientId)
      return reply.status(201).send({ ...toApp(app), ...(clientSecret !== undefined && { clientSecret }) })
    },
  })

  host.route({
    ...desk.show,
    onRequest,
    handler: async (request) => toApp(await readApp(db, { steward: stewardOf(request), ...request.params })),
  })
  mountChanges(host, kernel, apps, desk)
}

/** Those that may have to hold everywhere before they are acknowledged. */
function mountChanges(host: Host, kernel: Kernel, apps: AppDirectory, desk: Operations): void {
  const { db, clock } = kernel
  const { onChange, stewardOf, whileChanging } = desk

  host.route({
    ...desk.change,
    onRequest: onChange,
    handler: (request) =>
      whileChanging(request, async () => {
        const { clientId } = request.params
        const sought = { steward: stewardOf(request), clientId }
        const { app, isForAll } = await changeApp(kernel, sought, settingsOf(request.body), clock())
        apps.forget(clientId)
        if (isForAll) await apps.forgetEverywhere(clientId)
        return toApp(app)
      }),
  })

  host.route({
    ...desk.delete,
    onRequest: onChange,
    handler: (request, reply) =>
      whileChanging(request, async () => {
        const { clientId } = request.params
        await deleteApp(db, { steward: stewardOf(request), clientId }, clock())
        await apps.forgetEverywhere(clientId)
        return reply.status(204).send(null)
      }),
  })

  host.route({
    ...desk.rotateSecret,
    onRequest: onChange,
    handler: (request, reply) =>
      whileChanging(request, async () => {
        const { clientId } = request.params
        const graceSeconds = request.body?.graceSeconds ?? 0
        const sought = { steward: stewardOf(request), clientId }
        const { clientSecret, previousUntil } = await rotateSecret(db, sought, graceSeconds, clock())
        await apps.forgetEverywhere(clientId)
        return reply.status(201).send({ clientId, clientSecret, previousUntil: previousUntil.toISOString() })
      }),
  })
}

/** What was sent, by our names; what was not sent stays away. */
function settingsOf(sent: endpoints.AppChange): Partial<AppSettings> {
  const { idTokenSignedResponseAlg, accessTokenTtlSeconds, refreshTokenTtlSeconds, ...namedAlike } = sent
  return {
    ...namedAlike,
    ...(idTokenSignedResponseAlg !== undefined && { idTokenAlgorithm: idTokenSignedResponseAlg }),
    ...(accessTokenTtlSeconds !== undefined && { accessTokenSeconds: accessTokenTtlSeconds }),
    ...(refreshTokenTtlSeconds !== undefined && { refreshTokenSeconds: refreshTokenTtlSeconds }),
  }
}
