import * as endpoints from '@countersign/protocol/apps'
import type { Host } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { addressKey } from '#kernel/rate-limit.ts'
import type { AppDirectory, RegisteredApp } from './app-directory.ts'
import type { AppSettings } from './app-settings.ts'
import { changeApp, createApp, deleteApp, listApps, readApp, requireApp, toPublicApp } from './app.ts'
import { adminGuard } from './operator.ts'
import { rotateSecret } from './secret.ts'

export function appRoutes(host: Host, kernel: Kernel, apps: AppDirectory): void {
  const { db, clock, rateLimits } = kernel
  const { onRequest } = adminGuard(kernel)

  host.route({
    ...endpoints.readApp,
    async handler(request) {
      await rateLimits.count('metadata', addressKey(request))
      const app = requireApp(await apps.find(request.params.clientId))
      return { app: toPublicApp(app), resources: [] }
    },
  })

  host.route({
    ...endpoints.createApp,
    onRequest,
    async handler({ body }, reply) {
      const { public: isPublic = false, name, redirectUris, ...rest } = body
      const settings = { ...settingsOf(rest), name, redirectUris }
      const { app, clientSecret } = await createApp(db, isPublic, settings, clock())
      apps.forget(app.clientId)
      return reply.status(201).send({ ...toApp(app), ...(clientSecret !== undefined && { clientSecret }) })
    },
  })

  host.route({
    ...endpoints.listApps,
    onRequest,
    async handler() {
      const all = await listApps(db)
      return { apps: all.map(toApp) }
    },
  })

  host.route({
    ...endpoints.showApp,
    onRequest,
    handler: async ({ params }) => toApp(await readApp(db, params.clientId)),
  })

  host.route({
    ...endpoints.changeApp,
    onRequest,
    async handler({ params, body }) {
      const app = await changeApp(db, params.clientId, settingsOf(body), clock())
      apps.forget(params.clientId)
      if (body.status !== undefined) await apps.forgetEverywhere(params.clientId)
      return toApp(app)
    },
  })

  host.route({
    ...endpoints.deleteApp,
    onRequest,
    async handler({ params }, reply) {
      await deleteApp(db, params.clientId, clock())
      await apps.forgetEverywhere(params.clientId)
      return reply.status(204).send(null)
    },
  })
  secretRoute(host, kernel, apps)
}

function secretRoute(host: Host, kernel: Kernel, apps: AppDirectory): void {
  const { onRequest } = adminGuard(kernel)
  host.route({
    ...endpoints.rotateAppSecret,
    onRequest,
    async handler({ params: { clientId }, body }, reply) {
      const { clientSecret, previousUntil } = await rotateSecret(
        kernel.db,
        clientId,
        body?.graceSeconds ?? 0,
        kernel.clock(),
      )
      await apps.forgetEverywhere(clientId)
      return reply.status(201).send({ clientId, clientSecret, previousUntil: previousUntil.toISOString() })
    },
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

/** An app as its operator sees it. */
function toApp(app: RegisteredApp): endpoints.App {
  return {
    ...toPublicApp(app),
    redirectUris: app.redirectUris,
    postLogoutRedirectUris: app.postLogoutRedirectUris,
    public: app.isPublic,
    status: app.status,
    idTokenSignedResponseAlg: app.idTokenAlgorithm,
    accessTokenTtlSeconds: app.accessTokenSeconds,
    refreshTokenTtlSeconds: app.refreshTokenSeconds,
    createdAt: app.createdAt.toISOString(),
    updatedAt: app.updatedAt.toISOString(),
  }
}
