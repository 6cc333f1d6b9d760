import { readReceipt, readReceiptOfApp, receiptMediaType } from '@countersign/protocol/signing/receipts'
import type { NewSigningRequest } from '@countersign/protocol/signing/signing'
import { limits } from '@countersign/protocol/formats/limits'
import * as pending from '@countersign/protocol/signing/pending-signing'
import * as endpoints from '@countersign/protocol/signing/signing'
import type { FastifyReply } from 'fastify'
import type { AppDirectory } from '#clients/registration/app-directory.ts'
import { authenticateClient } from '#clients/registration/client-authentication.ts'
import type { Host } from '#platform/http/http.ts'
import { whileIdle } from '#platform/idle.ts'
import type { Kernel } from '#platform/module/services.ts'
import { siteOf, type Pages } from '#platform/http/page.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { refusals } from '#platform/refusal.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { createKey, listKeyRecords, lookUpPublicKey, readKeyRecord } from './key.ts'
import {
  answerForOrganization,
  denyForOrganization,
  findAsking,
  readOrganizationRequest,
} from '#signing/requests/organization-answer.ts'
import { openOrganizationRequest } from '#signing/requests/organization-request.ts'
import { listPending, readPending } from '#signing/requests/pending.ts'
import { denyRequest, openRequest, readRequest, readStatus, signRequest } from '#signing/requests/request.ts'
import { readHistory } from '#signing/requests/history.ts'
import { readSignPage } from '#signing/requests/page.ts'
import { issueReceipt, issueReceiptToApp } from '#signing/requests/receipt.ts'
import type { Page } from '#signing/requests/request-page.ts'
import { rotateKey } from './rotation.ts'
import { flawOf } from './verification.ts'
import { createWaiting, type Waiting } from '#signing/requests/waiting.ts'

const refuse = refusals({
  invalid_request: [400, 'at is an instant, such as 2026-11-21T09:30:00Z.'],
  request_not_found: [404, 'No organization was asked this.'],
})

const oneAddressee = 'Name who should sign: identityId or organizationId, one of the two.'

type Signing = { kernel: Kernel; apps: AppDirectory }

/** Signing, for apps and whoever verifies (interface §4.1), and for the people who sign (§4.2). */
export function signingRoutes(host: Host, signing: Signing): void {
  const waiting = createWaiting(signing.kernel)
  host.addHook('preClose', async () => waiting.stop())
  appSigningRoutes(host, signing, waiting)
  publicSigningRoutes(host, signing.kernel)
  keyRoutes(host, signing.kernel, waiting)
  requestRoutes(host, signing.kernel)
  answerRoutes(host, signing.kernel, waiting)
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
  const { clock, rateLimits } = kernel

  host.route({
    ...endpoints.openSigningRequest,
    bodyLimit: limits.signingRequestBytesMax,
    async handler(request, reply) {
      const { clientId, clientSecret, ...wanted } = request.body
      const addressee = readAddressee(wanted)
      const proof = { kind: 'secret', secret: new Secret(clientSecret) } as const
      const credentials = { clientId, proof, scheme: 'body' } as const
      const { app } = await authenticateClient({ apps, rateLimits }, credentials, addressKey(request), clock())
      const asker = { clientId, ownerUserId: app.ownerUserId }
      const opened =
        'identityId' in addressee
          ? await openRequest(kernel, asker, { ...wanted, ...addressee }, clock())
          : await openOrganizationRequest(kernel, asker, { ...wanted, ...addressee }, clock())
      return reply.status(201).send(opened)
    },
  })

  host.route({
    ...endpoints.readSigningStatus,
    async handler(request, reply) {
      const { requestId } = request.params
      const { clientId, wait = '0' } = request.query
      const before = await readStatus(kernel, clientId, requestId, clock())
      if (before.status !== 'pending' || wait === '0') return before
      const awaited = { ...before, expiresAt: new Date(before.expiresAt) }
      await whileIdle(() => waiting.untilSettled(awaited, Number(wait) * 1000, goneOf(reply)))
      return readStatus(kernel, clientId, requestId, clock())
    },
  })
}

type Named = Pick<NewSigningRequest, 'identityId' | 'organizationId'>

/** Whom an app asks. Refuses `invalid_request` where it names neither, or both. */
function readAddressee({ identityId, organizationId }: Named): { identityId: string } | { organizationId: string } {
  if (identityId !== undefined && organizationId === undefined) return { identityId }
  if (organizationId !== undefined && identityId === undefined) return { organizationId }
  throw refuse.invalid_request({ sentence: oneAddressee })
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
      const { key, expired } = await rotateKey(kernel, session.of(request), wanted, clock())
      waiting.settled(expired)
      return key
    },
  })
}

function pendingPageOf({ cursor, limit }: { cursor?: string; limit?: string }): Page {
  return { cursor, count: Number(limit ?? limits.signingPageMax) }
}

function requestRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...pending.listSigningRequests,
    onRequest: session.onRequest,
    handler: (request) => listPending(db, session.of(request), pendingPageOf(request.query), clock()),
  })

  host.route({
    ...pending.readPendingRequests,
    onRequest: session.onRequest,
    handler: (request) => readPending(db, session.of(request), pendingPageOf(request.query), clock()),
  })

  host.route({
    ...endpoints.readSigningHistory,
    onRequest: session.onRequest,
    handler(request) {
      const { cursor, limit } = request.query
      const page = { cursor, count: Number(limit ?? limits.signingHistoryPage) }
      return readHistory(db, session.of(request), page, clock())
    },
  })

  host.route({
    ...endpoints.readSigningRequest,
    onRequest: session.onRequest,
    async handler(request) {
      const { requestId } = request.params
      const asking = await findAsking(db, session.of(request), requestId)
      if (asking) return readOrganizationRequest(kernel, asking, clock())
      return readRequest(db, session.of(request), requestId, clock())
    },
  })
}

function answerRoutes(host: Host, kernel: Kernel, waiting: Waiting): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.signRequest,
    onRequest: session.onRequest,
    async handler(request) {
      const wanted = { ...request.params, ...request.body }
      const asking = await findAsking(db, session.of(request), wanted.requestId)
      const signed = asking
        ? await answerForOrganization(kernel, { ...asking, ...wanted, role: 'sign' }, clock())
        : await signRequest(db, session.of(request), wanted, clock())
      if (signed.status === 'signed') waiting.settled([signed.requestId])
      return signed
    },
  })

  host.route({
    ...endpoints.approveRequest,
    onRequest: session.onRequest,
    async handler(request) {
      const { requestId } = request.params
      const asking = await findAsking(db, session.of(request), requestId)
      if (!asking) throw refuse.request_not_found()
      const approval = { ...asking, ...request.body, role: 'approve' } as const
      const approved = await answerForOrganization(kernel, approval, clock())
      if (approved.status === 'signed') waiting.settled([requestId])
      return approved
    },
  })

  host.route({
    ...endpoints.denyRequest,
    onRequest: session.onRequest,
    async handler(request) {
      const { requestId } = request.params
      const asking = await findAsking(db, session.of(request), requestId)
      const denied = asking
        ? await denyForOrganization(kernel, asking, clock())
        : await denyRequest(db, session.of(request), requestId, clock())
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
