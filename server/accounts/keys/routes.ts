import * as approvals from '@countersign/protocol/accounts/device-approvals'
import * as endpoints from '@countersign/protocol/accounts/keys'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { requireRecentAuthentication, sessionGuard } from '#accounts/sessions/session.ts'
import {
  submitApproverKey,
  requestDeviceApproval,
  cancelDeviceApproval,
  listPendingDeviceApprovals,
  revealCommitment,
  getDeviceApproval,
  submitWrappedMasterKey,
  consumeWrappedMasterKey,
} from './device-approval.ts'
import { createIdentityKey, getPublicEncryptionKey, getOwnEncryptionKey } from './encryption-key.ts'
import { addPasskeyKeyWrap, listKeyWraps, replaceKeyWraps } from './key-wrap.ts'
import { recoveryCodeCreatedAt, replaceRecoveryCode } from './recovery-code.ts'
import { findSelfRecord, replaceSelfRecord } from './self-record.ts'

export function encryptionRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)
  deviceRoutes(host, kernel)
  selfRecordRoutes(host, kernel)
  identityKeyRoutes(host, kernel)

  host.route({
    ...endpoints.listKeyWraps,
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
      requireRecentAuthentication(session.of(request), now)
      return { keyWraps: await replaceKeyWraps(db, session.of(request), request.body.keyWraps, now) }
    },
  })

  host.route({
    ...endpoints.addKeyWrap,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const now = clock()
      requireRecentAuthentication(session.of(request), now)
      return reply.status(201).send(await addPasskeyKeyWrap(db, session.of(request), request.body, now))
    },
  })

  host.route({
    ...endpoints.getRecoveryCodeStatus,
    onRequest: session.onRequest,
    async handler(request) {
      const since = await recoveryCodeCreatedAt(db, session.of(request).userId)
      return { createdAt: since?.toISOString() ?? null }
    },
  })

  host.route({
    ...endpoints.replaceRecoveryCode,
    onRequest: session.onRequest,
    async handler(request) {
      const now = clock()
      requireRecentAuthentication(session.of(request), now)
      return { keyWraps: await replaceRecoveryCode(db, session.of(request), request.body, now) }
    },
  })
}

function selfRecordRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)
  const { onRequest } = session

  host.route({
    ...endpoints.getSelfRecord,
    onRequest,
    handler: async (request) => ({ record: await findSelfRecord(db, session.of(request).userId) }),
  })

  host.route({
    ...endpoints.replaceSelfRecord,
    onRequest,
    async handler(request, reply) {
      await replaceSelfRecord(db, session.of(request), request.body, clock())
      return reply.status(204).send(null)
    },
  })
}

function identityKeyRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock, rateLimits } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.getPublicEncryptionKey,
    async handler(request) {
      await rateLimits.count('public-encryption-key-reads', clientAddressKey(request))
      return getPublicEncryptionKey(db, request.params.handle)
    },
  })

  host.route({
    ...endpoints.getIdentityEncryptionKey,
    onRequest: session.onRequest,
    handler: (request) => getOwnEncryptionKey(db, session.of(request), request.params.identityId, clock()),
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

/** Registers the endpoints of device approvals. */
function deviceRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)
  const { onRequest } = session

  host.route({
    ...approvals.listPendingDeviceApprovals,
    onRequest,
    handler: async (request) => ({ devices: await listPendingDeviceApprovals(db, session.of(request), clock()) }),
  })

  host.route({
    ...approvals.requestDeviceApproval,
    onRequest,
    async handler(request, reply) {
      const { commitment } = request.body
      return reply.status(201).send(await requestDeviceApproval(kernel, session.of(request), commitment, clock()))
    },
  })

  host.route({
    ...approvals.getDeviceApproval,
    onRequest,
    handler: (request) => getDeviceApproval(db, session.of(request), request.params.approvalId, clock()),
  })

  host.route({
    ...approvals.submitApproverKey,
    onRequest,
    async handler(request, reply) {
      await submitApproverKey(db, session.of(request), { ...request.params, ...request.body }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...approvals.revealCommitment,
    onRequest,
    async handler(request, reply) {
      await revealCommitment(db, session.of(request), { ...request.params, ...request.body }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...approvals.submitWrappedMasterKey,
    onRequest,
    async handler(request, reply) {
      await submitWrappedMasterKey(db, session.of(request), { ...request.params, ...request.body }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...approvals.consumeWrappedMasterKey,
    onRequest,
    async handler(request) {
      return { ciphertext: await consumeWrappedMasterKey(db, session.of(request), request.params.approvalId, clock()) }
    },
  })

  host.route({
    ...approvals.cancelDeviceApproval,
    onRequest,
    async handler(request, reply) {
      await cancelDeviceApproval(db, session.of(request), request.params.approvalId, clock())
      return reply.status(204).send(null)
    },
  })
}
