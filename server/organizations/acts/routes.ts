import * as endpoints from '@countersign/protocol/organizations/acts'
import * as proposals from '@countersign/protocol/organizations/proposals'
import { type PasskeySession, sessionGuard } from '#accounts/sessions/session.ts'
import { memberContextOf } from '#organizations/membership/access.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { declineAct, listActTrail } from './act.ts'
import { getAct } from './act-view.ts'
import { type Performers, performAct } from './performance.ts'
import { startProposalAct, startProposalApproval } from './proposals/approval.ts'
import { createProposal, deleteProposal, listProposals } from './proposals/proposal.ts'
import { callerOf, successOf } from './signable.ts'

/** Routes for the acts that a session has started, on the business host. */
export function actRoutes(host: Host, kernel: ServerContext, performers: Performers): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.getAct,
    onRequest: session.onRequest,
    async handler(request) {
      const own = { session: session.of(request), ...request.params }
      return getAct(kernel, own, (endpoint) => performers(endpoint).endpoint.schema, clock())
    },
  })

  host.route({
    ...endpoints.listActTrail,
    onRequest: session.onRequest,
    async handler(request) {
      const own = { session: session.of(request), ...request.params, after: Number(request.query.after ?? 0) }
      return { entries: await listActTrail(kernel, own, clock()) }
    },
  })

  host.route({
    ...endpoints.performAct,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const signed = { session: session.of(request), ...request.params, ...request.body, caller: callerOf(request) }
      const { action, result, endpoint } = await performAct(kernel, performers, signed, clock())
      if (!result || !endpoint) return { action, result }
      // The serializer of the endpoint writes what its answer has, and nothing else.
      const text = reply.serializeInput({ ...result }, successOf(endpoint).schema)
      return { action, result: JSON.parse(text) }
    },
  })

  host.route({
    ...endpoints.declineAct,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await declineAct(kernel, { session: session.of(request), ...request.params }, clock())
      return reply.status(204).send(null)
    },
  })
}

/** Routes for the proposals of acts that need approvals, on the business host. */
export function proposalRoutes(host: Host, kernel: ServerContext): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)
  type MemberRequest = Parameters<typeof memberContextOf>[0] & { params: { proposalId: string } }
  const contextOf = (request: MemberRequest, acting: PasskeySession) => {
    const { proposalId } = request.params
    return { ...memberContextOf(request, acting), session: acting, proposalId }
  }

  host.route({
    ...proposals.createProposal,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const own = { session: session.of(request), ...request.params }
      return reply.status(201).send({ proposal: await createProposal(kernel, own, clock()) })
    },
  })

  host.route({
    ...proposals.listProposals,
    onRequest: session.onRequest,
    async handler(request) {
      return { proposals: await listProposals(kernel, memberContextOf(request, session.of(request)), clock()) }
    },
  })

  host.route({
    ...proposals.startProposalApproval,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = contextOf(request, session.of(request))
      return reply.status(201).send(await startProposalApproval(kernel, asking, clock()))
    },
  })

  host.route({
    ...proposals.startProposalAct,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = contextOf(request, session.of(request))
      return reply.status(201).send(await startProposalAct(kernel, asking, clock()))
    },
  })

  host.route({
    ...proposals.deleteProposal,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await deleteProposal(kernel, contextOf(request, session.of(request)), clock())
      return reply.status(204).send(null)
    },
  })
}
