import * as endpoints from '@countersign/protocol/organizations/organizations'
import type { OrganizationAccess } from '@countersign/protocol/formats/organization-access'
import type { FastifyRequest } from 'fastify'
import type { AppDirectory } from '#clients/registration/app-directory.ts'
import { requireOwnIdentity } from '#accounts/identities/identity.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { languageOf } from '#platform/outbound/language.ts'
import { either } from '#platform/http/parse.ts'
import { refusals, type Refusal } from '#platform/refusal.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { accessGuard } from '#tokens/families/access-token.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { askingOf, requireMember } from '#organizations/membership/access.ts'
import { organizationAccessOf } from '#organizations/membership/app-access.ts'
import { tellOrganization } from '#organizations/membership/context.ts'
import {
  acceptInvitation,
  invite,
  listInvitations,
  openInvitation,
  readInvitation,
  withdrawInvitation,
} from './invitation.ts'
import { changeMember, listOrganizationMembers, readMember, removeMember } from './member.ts'
import {
  beginOrganization,
  changeOrganization,
  endOrganization,
  listOrganizationsOfIdentity,
  listOwnOrganizations,
  toOrganization,
  toOwnOrganization,
} from './organization.ts'

const noApp = 'The app of this token is not registered any more.'

const refuse = refusals({
  workspace_creation_failed: [400, 'This identity is in as many organizations as it may be.'],
  invalid_token: [401, noApp],
  invalid_client: [403, 'The access token is not of this client.'],
  insufficient_scope: [
    403,
    'The person came by the sign-in of an organization alone, so this token is for that one alone.',
  ],
  too_many_organizations: [409, 'This identity is in as many organizations as it may be.'],
})

const notAllowed = { sentence: 'The user has not allowed this app to create organizations.' }

const notUsable = {
  sentence: 'The access token is for an organization in which the person may not use it any more.',
  headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
}

type Surroundings = { kernel: Kernel; apps: AppDirectory; keys: SigningKeys }

/** What apps may do with the organizations of whoever signed in to them. */
export function workspaceRoutes(host: Host, { kernel, apps, keys }: Surroundings): void {
  const { db, clock } = kernel
  const access = accessGuard(kernel, keys)
  const requireApp = (refusal: () => Refusal) => async (request: FastifyRequest) => {
    if (!(await apps.find(access.of(request).clientId))) throw refusal()
  }
  const reachOf = async (request: FastifyRequest): Promise<OrganizationAccess> => {
    const app = await apps.find(access.of(request).clientId)
    return app ? organizationAccessOf(db, app, access.of(request)) : 'none'
  }
  const requireWorth = async (request: FastifyRequest) => {
    if (!(await tellOrganization(db, access.of(request)))) throw refuse.invalid_token(notUsable)
  }

  host.route({
    ...endpoints.listOrganizations,
    onRequest: [access.onRequest, requireApp(refuse.invalid_token), requireWorth],
    async handler(request) {
      const { identityId, clientId, organizationId, byProviderAlone } = access.of(request)
      requireClient(clientId, request.query.client_id)
      if ((await reachOf(request)) === 'none') return { organizations: [] }
      const organizations = await listOrganizationsOfIdentity(db, identityId)
      return { organizations: organizations.filter(({ id }) => !byProviderAlone || id === organizationId) }
    },
  })

  host.route({
    ...endpoints.createWorkspace,
    onRequest: [access.onRequest, requireApp(() => refuse.invalid_client({ sentence: noApp })), requireWorth],
    async handler(request, reply) {
      const { userId, identityId, clientId, byProviderAlone } = access.of(request)
      const { body } = request
      requireClient(clientId, either(body.client_id, body.clientId))
      if (byProviderAlone) throw refuse.insufficient_scope()
      if ((await reachOf(request)) !== 'create') throw refuse.workspace_creation_failed(notAllowed)
      const founder = { userId, identityId, clientId }
      const begun = await beginOrganization(kernel, founder, body.name, clock())
      if (!begun) throw refuse.workspace_creation_failed()
      return reply.status(201).send({ organization: toOrganization(begun) })
    },
  })
}

/** Refuses `invalid_client` where a request names another client than its token is of. */
function requireClient(clientId: string, named: string | undefined): void {
  if (named !== undefined && named !== clientId) throw refuse.invalid_client()
}

/** What people do with their organizations, on the business host. */
export function organizationRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)
  memberRoutes(host, kernel)
  invitationRoutes(host, kernel)

  host.route({
    ...endpoints.listOwnOrganizations,
    onRequest: session.onRequest,
    async handler(request) {
      return { organizations: await listOwnOrganizations(db, session.of(request)) }
    },
  })

  host.route({
    ...endpoints.createOrganization,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const acting = session.of(request)
      const { userId } = acting
      const { name, identityId } = request.body
      await requireOwnIdentity(db, acting, identityId)
      const begun = await beginOrganization(kernel, { userId, identityId, session: acting }, name, clock())
      if (!begun) throw refuse.too_many_organizations()
      return reply.status(201).send({ organization: toOwnOrganization(begun) })
    },
  })

  host.route({
    ...endpoints.readOrganization,
    onRequest: session.onRequest,
    async handler(request) {
      const member = await requireMember(kernel, askingOf(request, session.of(request)), 'read', clock())
      return { organization: toOwnOrganization(member) }
    },
  })

  host.route({
    ...endpoints.changeOrganization,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = askingOf(request, session.of(request))
      return { organization: await changeOrganization(kernel, asking, request.body, clock()) }
    },
  })

  host.route({
    ...endpoints.deleteOrganization,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await endOrganization(kernel, askingOf(request, session.of(request)), clock())
      return reply.status(204).send(null)
    },
  })
}

/** Who belongs to an organization, and who may come. */
function memberRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listMembers,
    onRequest: session.onRequest,
    async handler(request) {
      const { organization } = await requireMember(kernel, askingOf(request, session.of(request)), 'read', clock())
      return listOrganizationMembers(db, organization.organizationId, request.query)
    },
  })

  host.route({
    ...endpoints.readMember,
    onRequest: session.onRequest,
    async handler(request) {
      const { organizationId, memberId } = request.params
      await requireMember(kernel, askingOf(request, session.of(request)), 'read', clock())
      return { member: await readMember(db, organizationId, memberId) }
    },
  })

  host.route({
    ...endpoints.changeMember,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...askingOf(request, session.of(request)), memberId: request.params.memberId }
      return { member: await changeMember(kernel, asking, request.body, clock()) }
    },
  })

  host.route({
    ...endpoints.removeMember,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...askingOf(request, session.of(request)), memberId: request.params.memberId }
      await removeMember(kernel, asking, clock())
      return reply.status(204).send(null)
    },
  })
}

/** Asking people to join, and their answers. */
function invitationRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.invite,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...askingOf(request, session.of(request)), language: languageOf(request) }
      return reply.status(201).send(await invite(kernel, asking, request.body, clock()))
    },
  })

  host.route({
    ...endpoints.listInvitations,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = askingOf(request, session.of(request))
      await requireMember(kernel, asking, 'manage_identities', clock())
      return { invitations: await listInvitations(db, asking.organizationId, clock()) }
    },
  })

  host.route({
    ...endpoints.readInvitation,
    onRequest: session.onRequest,
    async handler(request) {
      const { organizationId, invitationId } = request.params
      await requireMember(kernel, askingOf(request, session.of(request)), 'manage_identities', clock())
      return { invitation: await readInvitation(db, organizationId, invitationId, clock()) }
    },
  })

  host.route({
    ...endpoints.withdrawInvitation,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { invitationId } = request.params
      await withdrawInvitation(kernel, { ...askingOf(request, session.of(request)), invitationId }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.openInvitation,
    onRequest: session.onRequest,
    async handler(request) {
      return { invitation: await openInvitation(db, session.of(request), request.params.token, clock()) }
    },
  })

  host.route({
    ...endpoints.acceptInvitation,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const accepting = { token: request.params.token, identityId: request.body.identityId }
      const organization = await acceptInvitation(kernel, session.of(request), accepting, clock())
      return reply.status(201).send({ organization })
    },
  })
}
