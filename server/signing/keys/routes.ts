import * as endpoints from '@countersign/protocol/signing/keys'
import type { Host } from '#platform/http/host.ts'
import { readInstant } from '#platform/http/instant.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { adoptKey } from './adoption.ts'
import { createKey, findSignatureError, getPublicKeyByHandle, getSigningKey, listKeyRecords } from './key.ts'
import { type OldKeyRequests, rotateKey } from './rotation.ts'

/** Registers the routes of signing keys for verifiers (interface §4.1) and for their owners (§4.2). */
export function signingKeyRoutes(host: Host, kernel: ServerContext, ofOldKey: OldKeyRequests): void {
  publicSigningRoutes(host, kernel)
  keyRoutes(host, kernel, ofOldKey)
}

function publicSigningRoutes(host: Host, { db, rateLimits, clock }: ServerContext): void {
  host.route({
    ...endpoints.getPublicSigningKey,
    async handler(request) {
      await rateLimits.count('public-signing-key-reads', clientAddressKey(request))
      const { at, identityId: knownId } = request.query
      const { handle } = request.params
      const lookup = { handle, at: at === undefined ? undefined : readInstant(at), knownId }
      return getPublicKeyByHandle(db, lookup, clock())
    },
  })

  host.route({
    ...endpoints.verifySignature,
    async handler(request) {
      await rateLimits.count('signature-verifications', clientAddressKey(request))
      const error = findSignatureError(request.body)
      return error ? { valid: false, error } : { valid: true }
    },
  })
}

function keyRoutes(host: Host, kernel: ServerContext, ofOldKey: OldKeyRequests): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listSigningKeys,
    onRequest: session.onRequest,
    async handler(request) {
      return { keys: await listKeyRecords(db, session.of(request).userId) }
    },
  })

  host.route({
    ...endpoints.getSigningKey,
    onRequest: session.onRequest,
    handler: (request) => getSigningKey(db, session.of(request), request.params.identityId, clock()),
  })

  host.route({
    ...endpoints.createSigningKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const requested = { ...request.params, ...request.body }
      return reply.status(201).send(await createKey(kernel, session.of(request), requested, clock()))
    },
  })

  host.route({
    ...endpoints.rotateSigningKey,
    onRequest: session.onRequest,
    async handler(request) {
      const requested = { ...request.params, ...request.body }
      const { key, expired } = await rotateKey({ ...kernel, ofOldKey }, session.of(request), requested, clock())
      ofOldKey.settled(expired)
      return key
    },
  })

  host.route({
    ...endpoints.adoptSigningKey,
    onRequest: session.onRequest,
    handler: (request) => adoptKey(kernel, session.of(request), { ...request.params, ...request.body }, clock()),
  })
}
