import { readReceipt, readReceiptOfApp, receiptMediaType } from '@countersign/protocol/receipts'
import * as endpoints from '@countersign/protocol/signing'
import type { FastifyReply } from 'fastify'
import type { AppDirectory } from '#apps/app-directory.ts'
import { authenticateClient } from '#apps/client-authentication.ts'
import type { Host } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { siteOf, type Pages } from '#kernel/page.ts'
import { addressKey } from '#kernel/rate-limit.ts'
import { refusals } from '#kernel/refusal.ts'
import { Secret } from '#kernel/secret.ts'
import { sessionGuard } from '#sessions/session.ts'
import { createKey, listKeyRecords, lookUpPublicKey, readKeyRecord } from './key.ts'
import { denyRequest, listPending, openRequest, readRequest, readStatus, signRequest } from './request.ts'
import { readHistory } from './history.ts'
import { readSignPage } from './page.ts'
import { issueReceipt, issueReceiptToApp } from './receipt.ts'
import { rotateKey } from './rotation.ts'
import { flawOf } from './verification.ts'
import { createWaiting, type Waiting } from './waiting.ts'

const refuse = refusals({ invalid_request: [400, 'at is an instant, such as 2026-11-21T09:30:00Z.'] })

const historyDefault = 50

type Signing = { kernel: Kernel; apps: AppDirectory }

/** Signing, for apps and whoever verifies (interface §4.1), and for the people who sign (§4.2). */
export function signingRoutes(host: Host, signing: Signing): void {
  const waiting = createWaiting(signing.kernel)
  host.addHook('preClose', async () => waiting.stop())
  appSigningRoutes(host, signing, waiting)
  publicSigningRoutes(host, signing.kernel)
  keyRoutes(host, signing.kernel, waiting)
  requestRoutes(host, signing.kernel, waiting)
  receiptRoutes(host, signing.kernel)
}

/** The page on which a person signs, for the host of the pages. */
export function signingPageRoutes(host: Host, { kernel, apps }: Signing, pages: Pages): void {
  const { db, clock, config } = kernel
  const surroundings = { db, apps, site: siteOf(config) }
  host.route({
    method: 'GET',
    url: '/sign',
    config: { security: 'none', cors: 'no origin', host: 'auth', page: true },
    async handler({ query }, reply) {
      return pages.show(reply, await readSignPage(surroundings, query, clock()))
    },
  })
}

function appSigningRoutes(host: Host, { kernel, apps }: Signing, waiting: Waiting): void {
  const { db, clock, rateLimits } = kernel

  host.route({
    ...endpoints.openSigningRequest,
    async handler(request, reply) {
      const { clientId, clientSecret, ...wanted } = request.body
      const proof = { kind: 'secret', secret: new Secret(clientSecret) } as const
      const credentials = { clientId, proof, scheme: 'body' } as const
      await authenticateClient({ apps, rateLimits }, credentials, addressKey(request), clock())
      return reply.status(201).send(await openRequest(db, { clientId }, wanted, clock()))
    },
  })

  host.route({
    ...endpoints.readSigningStatus,
    async handler(request, reply) {
      const { requestId } = request.params
      const { clientId, wait = '0' } = request.query
      const before = await readStatus(kernel, clientId, requestId, clock())
      if (before.status !== 'pending' || wait === '0') return before
      // Whoever only waits keeps nobody else from being served.
      host.release(request)
      const awaited = { ...before, expiresAt: new Date(before.expiresAt) }
      await waiting.untilSettled(awaited, Number(wait) * 1000, goneOf(reply))
      return readStatus(kernel, clientId, requestId, clock())
    },
  })
}

/** Aborted when the caller has gone. The connection itself would not do: it may serve many, one after another. */
function goneOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

function publicSigningRoutes(host: Host, { db, rateLimits }: Kernel): void {
  host.route({
    ...endpoints.readPublicKey,
    async handler(request) {
      await rateLimits.count('public signing key', addressKey(request))
      const { at } = request.query
      return lookUpPublicKey(db, request.params.handle, at === undefined ? undefined : readInstant(at))
    },
  })

  host.route({
    ...endpoints.verifySignature,
    async handler(request) {
      await rateLimits.count('signature verification', addressKey(request))
      const error = flawOf(request.body)
      return error ? { valid: false, error } : { valid: true }
    },
  })
}

function readInstant(text: string): Date {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) throw refuse.invalid_request()
  return at
}

function keyRoutes(host: Host, kernel: Kernel, waiting: Waiting): void {
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
    ...endpoints.readSigningKey,
    onRequest: session.onRequest,
    handler: (request) => readKeyRecord(db, session.of(request), request.params.identityId),
  })

  host.route({
    ...endpoints.createSigningKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const wanted = { ...request.params, ...request.body }
      return reply.status(201).send(await createKey(db, session.of(request), wanted, clock()))
    },
  })

  host.route({
    ...endpoints.rotateSigningKey,
    onRequest: session.onRequest,
    async handler(request) {
      const wanted = { ...request.params, ...request.body }
      const { key, expired } = await rotateKey(db, session.of(request), wanted, clock())
      waiting.settled(expired)
      return key
    },
  })
}

function requestRoutes(host: Host, kernel: Kernel, waiting: Waiting): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listSigningRequests,
    onRequest: session.onRequest,
    async handler(request) {
      return { requests: await listPending(db, session.of(request), clock()) }
    },
  })

  host.route({
    ...endpoints.readSigningHistory,
    onRequest: session.onRequest,
    handler(request) {
      const { cursor, limit } = request.query
      const page = { cursor, count: Number(limit ?? historyDefault) }
      return readHistory(db, session.of(request), page, clock())
    },
  })

  host.route({
    ...endpoints.readSigningRequest,
    onRequest: session.onRequest,
    handler: (request) => readRequest(db, session.of(request), request.params.requestId, clock()),
  })

  host.route({
    ...endpoints.signRequest,
    onRequest: session.onRequest,
    async handler(request) {
      const wanted = { ...request.params, ...request.body }
      const signed = await signRequest(db, session.of(request), wanted, clock())
      waiting.settled([signed.requestId])
      return signed
    },
  })

  host.route({
    ...endpoints.denyRequest,
    onRequest: session.onRequest,
    async handler(request) {
      const denied = await denyRequest(db, session.of(request), request.params.requestId, clock())
      waiting.settled([denied.requestId])
      return denied
    },
  })
}

function receiptRoutes(host: Host, kernel: Kernel): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...readReceipt,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { requestId } = request.params
      const receipt = await issueReceipt(kernel, session.of(request), requestId, clock())
      reply.header('content-disposition', `attachment; filename="receipt-${requestId}.jws"`)
      return reply.type(receiptMediaType).send(receipt)
    },
  })

  host.route({
    ...readReceiptOfApp,
    async handler({ params: { requestId }, query: { clientId } }, reply) {
      return reply.type(receiptMediaType).send(await issueReceiptToApp(kernel, clientId, requestId, clock()))
    },
  })
}
