import { lookUpAppKey as lookUpEndpoint } from '@countersign/protocol/oauth/app-keys'
import * as approvals from '@countersign/protocol/accounts/device-approvals'
import * as endpoints from '@countersign/protocol/accounts/keys'
import type { AppDirectory } from '#clients/registration/app-directory.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { requireFresh, sessionGuard } from '#accounts/sessions/session.ts'
import { lookUpAppKey, readLookup } from '#oauth/app-keys/lookup.ts'
import {
  answerApproval,
  askForApproval,
  cancelApproval,
  listWaitingDevices,
  openCommitment,
  readApproval,
  sealForDevice,
  takeSealed,
} from './device-approval.ts'
import { createIdentityKey, lookUpIdentityKey, readOwnKey } from './encryption-key.ts'
import { grantPasskey, listKeyWraps, replaceKeyWraps } from './key-wrap.ts'
import { recoverySince, replaceRecovery } from './recovery-code.ts'

export function encryptionRoutes(host: Host, { kernel, apps }: { kernel: Kernel; apps: AppDirectory }): void {
  const { db, clock, rateLimits } = kernel
  const session = sessionGuard(kernel)
  deviceRoutes(host, kernel)
  identityKeyRoutes(host, kernel)

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
      return { keyWraps: await replaceKeyWraps(db, session.of(request), request.body.keyWraps, now) }
    },
  })

  host.route({
    ...endpoints.addKeyWrap,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const now = clock()
      requireFresh(session.of(request), now)
      return reply.status(201).send(await grantPasskey(db, session.of(request), request.body, now))
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
      return { keyWraps: await replaceRecovery(db, session.of(request), request.body, now) }
    },
  })
}

function identityKeyRoutes(host: Host, kernel: Kernel): void {
  const { db, clock, rateLimits } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.lookUpIdentityKey,
    async handler(request) {
      await rateLimits.count('public encryption key', addressKey(request))
      return lookUpIdentityKey(db, request.params.handle)
    },
  })

  host.route({
    ...endpoints.readIdentityKey,
    onRequest: session.onRequest,
    handler: (request) => readOwnKey(db, session.of(request), request.params.identityId),
  })

  host.route({
    ...endpoints.createIdentityKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const key = { ...request.params, ...request.body }
      return reply.status(201).send(await createIdentityKey(db, session.of(request), key, clock()))
    },
  })
}

/** One device of a person unlocks another. */
function deviceRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)
  const { onRequest } = session

  host.route({
    ...approvals.listWaitingDevices,
    onRequest,
    handler: async (request) => ({ devices: await listWaitingDevices(db, session.of(request), clock()) }),
  })

  host.route({
    ...approvals.askForApproval,
    onRequest,
    async handler(request, reply) {
      const { commitment } = request.body
      return reply.status(201).send(await askForApproval(kernel, session.of(request), commitment, clock()))
    },
  })

  host.route({
    ...approvals.readApproval,
    onRequest,
    handler: (request) => readApproval(db, session.of(request), request.params.approvalId, clock()),
  })

  host.route({
    ...approvals.answerApproval,
    onRequest,
    async handler(request, reply) {
      await answerApproval(db, session.of(request), { ...request.params, ...request.body }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...approvals.openCommitment,
    onRequest,
    async handler(request, reply) {
      await openCommitment(db, session.of(request), { ...request.params, ...request.body }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...approvals.sealForDevice,
    onRequest,
    async handler(request, reply) {
      await sealForDevice(db, session.of(request), { ...request.params, ...request.body }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...approvals.takeSealed,
    onRequest,
    async handler(request) {
      return { ciphertext: await takeSealed(db, session.of(request), request.params.approvalId, clock()) }
    },
  })

  host.route({
    ...approvals.cancelApproval,
    onRequest,
    async handler(request, reply) {
      await cancelApproval(db, session.of(request), request.params.approvalId, clock())
      return reply.status(204).send(null)
    },
  })
}
