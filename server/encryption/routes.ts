import { lookUpAppKey as lookUpEndpoint } from '@countersign/protocol/app-keys'
import * as endpoints from '@countersign/protocol/keys'
import type { AppDirectory } from '#apps/app-directory.ts'
import type { Host } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { addressKey } from '#kernel/rate-limit.ts'
import { requireFresh, sessionGuard } from '#sessions/session.ts'
import { lookUpAppKey, readLookup } from './app-lookup.ts'
import { grantPasskey, listKeyWraps, replaceKeyWraps } from './key-wrap.ts'
import { recoverySince, replaceRecovery } from './recovery.ts'

export function encryptionRoutes(host: Host, { kernel, apps }: { kernel: Kernel; apps: AppDirectory }): void {
  const { db, clock, rateLimits } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...lookUpEndpoint,
    async handler(request) {
      await rateLimits.count('app lookup', addressKey(request))
      return lookUpAppKey({ kernel, apps }, readLookup(request.query))
    },
  })

  host.route({
    ...endpoints.readKeyWraps,
    onRequest: session.onRequest,
    async handler(request) {
      return { keyWraps: await listKeyWraps(db, session.of(request).userId) }
    },
  })

  host.route({
    ...endpoints.replaceKeyWraps,
    onRequest: session.onRequest,
    async handler(request) {
      const now = clock()
      requireFresh(session.of(request), now)
      return { keyWraps: await replaceKeyWraps(db, session.of(request).userId, request.body.keyWraps, now) }
    },
  })

  host.route({
    ...endpoints.addKeyWrap,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const now = clock()
      requireFresh(session.of(request), now)
      return reply.status(201).send(await grantPasskey(db, session.of(request).userId, request.body, now))
    },
  })

  host.route({
    ...endpoints.readRecovery,
    onRequest: session.onRequest,
    async handler(request) {
      const since = await recoverySince(db, session.of(request).userId)
      return { createdAt: since?.toISOString() ?? null }
    },
  })

  host.route({
    ...endpoints.replaceRecovery,
    onRequest: session.onRequest,
    async handler(request) {
      const now = clock()
      requireFresh(session.of(request), now)
      return { keyWraps: await replaceRecovery(db, session.of(request).userId, request.body, now) }
    },
  })
}
