import { getAppReceipt, readReceipt, receiptMediaType } from '@countersign/protocol/signing/receipts'
import * as endpoints from '@countersign/protocol/signing/signing'
import type { NewSigningRequest } from '@countersign/protocol/signing/signing'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { listOrganizationDocuments } from '@countersign/protocol/signing/organization-documents'
import * as pending from '@countersign/protocol/signing/pending-signing'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppDirectory } from '#clients/registration/directory.ts'
import { authenticateClient } from '#clients/registration/authentication/authentication.ts'
import type { Host } from '#platform/http/host.ts'
import { whileIdle } from '#platform/idle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Pages, siteSettings } from '#platform/http/page.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { defineErrors } from '#platform/api-error.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { memberContextOf } from '#organizations/membership/access.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { findSignedForOrganization, listSigningHistory } from './history.ts'
import { denyRequest, signRequest, startApproval } from './identities/answer.ts'
import { buildSignView, createSigningRequest, getSigningRequest, getSigningStatus } from './identities/request.ts'
import { startMemberApproval } from './organizations/member-approval.ts'
import { listDocuments } from './organizations/document.ts'
import { denyForOrganization, signForOrganization } from './organizations/member-signature.ts'
import { findOrganizationRequest, getOrganizationSigningRequest } from './organizations/member-view.ts'
import { createOrganizationSigningRequest } from './organizations/organization-request.ts'
import { listPending, readPending } from './pending.ts'
import { issueReceipt, issueReceiptToApp } from './receipt.ts'
import type { Page } from './request-page.ts'
import type { StatusWaiter } from './status-waiter.ts'

const errors = defineErrors({
  invalid_request: [400, 'Send exactly one of identityId and organizationId.'],
  request_not_found: [404, 'This is not an organization signing request.'],
})

/** Services of the routes of signing requests. */
export type SigningServices = { kernel: ServerContext; apps: AppDirectory; pages: Pages; statusWaiter: StatusWaiter }

/** Registers the routes of signing requests for apps (interface §4.1) and for signers (§4.2). */
export function signingRequestRoutes(host: Host, signing: SigningServices): void {
  const { statusWaiter: waiting } = signing
  host.addHook('preClose', async () => waiting.stop())
  appSigningRoutes(host, signing, waiting)
  requestRoutes(host, signing.kernel)
  answerRoutes(host, signing.kernel, waiting)
  receiptRoutes(host, signing.kernel)
}

/** Registers the signing page on the host of the pages. */
export function signingPageRoutes(host: Host, { kernel, apps, pages }: SigningServices): void {
  const { db, clock, config } = kernel
  const surroundings = { db, apps, site: siteSettings(config) }
  host.route({
    method: 'GET',
    url: '/sign',
    config: { security: 'none', cors: 'no origin', host: 'auth', page: true },
    async handler({ query }, reply) {
      return pages.show(reply, await buildSignView(surroundings, query, clock()))
    },
  })
}

function appSigningRoutes(host: Host, { kernel, apps }: SigningServices, waiting: StatusWaiter): void {
  const { clock, rateLimits } = kernel

  host.route({
    ...endpoints.createSigningRequest,
    bodyLimit: limits.signingRequestBytesMax,
    async handler(request, reply) {
      const { clientId, clientSecret, ...requested } = request.body
      const addressee = readAddressee(requested)
      const proof = { kind: 'secret', secret: new Secret(clientSecret) } as const
      const credentials = { clientId, proof, scheme: 'body' } as const
      const { app } = await authenticateClient({ apps, rateLimits }, credentials, clientAddressKey(request), clock())
      const requester = { clientId, ownerUserId: app.ownerUserId }
      const opened =
        'identityId' in addressee
          ? await createSigningRequest(kernel, requester, { ...requested, ...addressee }, clock())
          : await createOrganizationSigningRequest(kernel, requester, { ...requested, ...addressee }, clock())
      return reply.status(201).send(opened)
    },
  })

  host.route({
    ...endpoints.getSigningStatus,
    async handler(request, reply) {
      const { requestId } = request.params
      const { clientId, wait = '0' } = request.query
      const before = await getSigningStatus(kernel.db, clientId, requestId, clock())
      if (before.status !== 'pending' || wait === '0') return before
      const awaited = { ...before, expiresAt: new Date(before.expiresAt) }
      await whileIdle(() => waiting.untilSettled(awaited, Number(wait) * 1000, goneOf(reply)))
      return getSigningStatus(kernel.db, clientId, requestId, clock())
    },
  })
}

type Named = Pick<NewSigningRequest, 'identityId' | 'organizationId'>

/**
 * Parses the identity or organization that an app requests a signature from. Throws `invalid_request` unless exactly
 * one is named.
 */
function readAddressee({
  identityId,
  organizationId,
}: Named): { identityId: IdentityId } | { organizationId: OrganizationId } {
  if (identityId !== undefined && organizationId === undefined) return { identityId }
  if (organizationId !== undefined && identityId === undefined) return { organizationId }
  throw errors.invalid_request()
}

/**
 * Returns a signal that aborts when the caller disconnects from this request. The connection itself may serve several
 * requests in turn.
 */
function goneOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

function pendingPageOf({ cursor, limit }: { cursor?: string; limit?: string }): Page {
  return { cursor, count: Number(limit ?? limits.signingPageMax) }
}

function requestRoutes(host: Host, kernel: ServerContext): void {
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
    ...endpoints.listSigningHistory,
    onRequest: session.onRequest,
    handler(request) {
      const { cursor, limit } = request.query
      const page = { cursor, count: Number(limit ?? limits.signingHistoryPage) }
      return listSigningHistory(db, session.of(request), page, clock())
    },
  })

  host.route({
    ...endpoints.getSigningRequest,
    onRequest: session.onRequest,
    async handler(request) {
      const { requestId } = request.params
      const asking = await findOrganizationRequest(db, session.of(request), requestId)
      const signed = asking && (await findSignedForOrganization(db, asking, clock()))
      if (signed) return signed
      if (asking) return getOrganizationSigningRequest(kernel, asking, clock())
      return getSigningRequest(db, session.of(request), requestId, clock())
    },
  })
}

/** Registers what members see of the requests to their organization, on the business host. */
export function organizationDocumentRoutes(host: Host, kernel: ServerContext): void {
  const session = sessionGuard(kernel)

  host.route({
    ...listOrganizationDocuments,
    onRequest: session.onRequest,
    handler(request) {
      const { cursor, limit, state = 'all' } = request.query
      const page = { cursor, count: Number(limit ?? limits.organizationDocumentsPage), state }
      return listDocuments(kernel, memberContextOf(request, session.of(request)), page, kernel.clock())
    },
  })
}

function answerRoutes(host: Host, kernel: ServerContext, waiting: StatusWaiter): void {
  const { db, clock, rateLimits } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.startApproval,
    onRequest: session.onRequest,
    async handler(request) {
      const [acting, started] = [session.of(request), { ...request.params, ...request.body }]
      await rateLimits.count('signing-approvals-per-user', ownKey(acting, clock()))
      const asking = await findOrganizationRequest(db, acting, started.requestId)
      return asking
        ? startMemberApproval(kernel, { ...asking, session: acting, ...started }, clock())
        : startApproval(kernel, acting, started, clock())
    },
  })

  host.route({
    ...endpoints.signRequest,
    onRequest: session.onRequest,
    async handler(request) {
      const [acting, requested] = [session.of(request), { ...request.params, ...request.body }]
      const asking = await findOrganizationRequest(db, acting, requested.requestId)
      const signed = asking
        ? await signForOrganization(kernel, { ...asking, session: acting, ...requested, role: 'sign' }, clock())
        : await signRequest(kernel, acting, requested, clock())
      if (signed.status === 'signed') waiting.settled([signed.requestId])
      return signed
    },
  })

  host.route({
    ...endpoints.approveRequest,
    onRequest: session.onRequest,
    async handler(request) {
      const { requestId } = request.params
      const acting = session.of(request)
      const asking = await findOrganizationRequest(db, acting, requestId)
      if (!asking) throw errors.request_not_found()
      const given = { ...asking, session: acting, ...request.body, role: 'approve' } as const
      const approved = await signForOrganization(kernel, given, clock())
      if (approved.status === 'signed') waiting.settled([requestId])
      return approved
    },
  })

  host.route({
    ...endpoints.denyRequest,
    onRequest: session.onRequest,
    async handler(request) {
      const { requestId } = request.params
      const asking = await findOrganizationRequest(db, session.of(request), requestId)
      const denied = asking
        ? await denyForOrganization(kernel, asking, clock())
        : await denyRequest(db, session.of(request), requestId, clock())
      waiting.settled([denied.requestId])
      return denied
    },
  })
}

function receiptRoutes(host: Host, kernel: ServerContext): void {
  const { clock, rateLimits } = kernel
  const session = sessionGuard(kernel)
  // The largest have the histories of all members, with a proof of each entry.
  const limit = (request: FastifyRequest) => rateLimits.count('signing-receipts', clientAddressKey(request))

  host.route({
    ...readReceipt,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await limit(request)
      const { requestId } = request.params
      const receipt = await issueReceipt(kernel, session.of(request), requestId, clock())
      reply.header('content-disposition', `attachment; filename="receipt-${requestId}.jws"`)
      return reply.type(receiptMediaType).send(receipt)
    },
  })

  host.route({
    ...getAppReceipt,
    onRequest: limit,
    async handler({ params: { requestId }, query: { clientId } }, reply) {
      return reply.type(receiptMediaType).send(await issueReceiptToApp(kernel, clientId, requestId, clock()))
    },
  })
}
