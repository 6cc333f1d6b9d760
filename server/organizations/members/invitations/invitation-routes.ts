import * as endpoints from '@countersign/protocol/organizations/invitations'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { memberContextOf, requireMember } from '#organizations/membership/access.ts'
import type { Host } from '#platform/http/host.ts'
import { negotiateLanguage } from '#platform/outbound/mail.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { acceptInvitation, declineInvitation, joinByInvitation } from './acceptance.ts'
import { getInvitation, listInvitations, mailInvitation } from './invitation.ts'
import { getInvitationByToken, listOwnInvitations, previewInvitation } from './preview.ts'

/** Routes for the members who invite, and for accepting invitations. */
export function invitationRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)
  answerRoutes(host, kernel)

  host.route({
    ...endpoints.listInvitations,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = memberContextOf(request, session.of(request))
      await requireMember(kernel, asking, 'manage_identities', clock())
      return { invitations: await listInvitations(db, asking.organizationId, clock()) }
    },
  })

  host.route({
    ...endpoints.getInvitation,
    onRequest: session.onRequest,
    async handler(request) {
      const { organizationId, invitationId } = request.params
      await requireMember(kernel, memberContextOf(request, session.of(request)), 'manage_identities', clock())
      return { invitation: await getInvitation(db, organizationId, invitationId, clock()) }
    },
  })

  host.route({
    ...endpoints.mailInvitation,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = memberContextOf(request, session.of(request))
      const mailing = { ...asking, ...request.params, language: negotiateLanguage(request) }
      return { invitation: await mailInvitation(kernel, mailing, clock()) }
    },
  })
}

/** Routes for those who have the token of an invitation, and those it is for. */
function answerRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock, rateLimits } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.previewInvitation,
    async handler(request) {
      await rateLimits.count('invitation-previews', clientAddressKey(request))
      return { invitation: await previewInvitation(db, request.params.token, clock()) }
    },
  })

  host.route({
    ...endpoints.getInvitationByToken,
    onRequest: session.onRequest,
    async handler(request) {
      return { invitation: await getInvitationByToken(db, session.of(request), request.params.token, clock()) }
    },
  })

  host.route({
    ...endpoints.acceptInvitation,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { identityId, verifyEmail = false } = request.body
      const accepting = { token: request.params.token, identityId, verifyEmail, language: negotiateLanguage(request) }
      const organization = await acceptInvitation(kernel, session.of(request), accepting, clock())
      return reply.status(201).send({ organization })
    },
  })

  host.route({
    ...endpoints.joinByInvitation,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const answer = { ...request.params, identityId: request.body.identityId }
      const organization = await joinByInvitation(kernel, session.of(request), answer, clock())
      return reply.status(201).send({ organization })
    },
  })

  host.route({
    ...endpoints.declineInvitation,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const answer = { ...request.params, identityId: request.body.identityId }
      await declineInvitation(kernel, session.of(request), answer, clock())
      return reply.status(204).send(null)
    },
  })
}

/** Routes for users who have been invited. */
export function ownInvitationRoutes(host: Host, kernel: ServerContext): void {
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listOwnInvitations,
    onRequest: session.onRequest,
    async handler(request) {
      return { invitations: await listOwnInvitations(kernel.db, session.of(request), kernel.clock()) }
    },
  })
}
