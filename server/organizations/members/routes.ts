import * as invitations from '@countersign/protocol/organizations/invitations'
import * as endpoints from '@countersign/protocol/organizations/organizations'
import { uploadOrganizationPicture } from '@countersign/protocol/organizations/pictures'
import type { OrganizationAccess } from '@countersign/protocol/formats/organization-access'
import type { ClientId } from '@countersign/protocol/ids'
import { limits } from '@countersign/protocol/formats/limits'
import type { FastifyRequest } from 'fastify'
import type { AppDirectory } from '#clients/registration/directory.ts'
import { requireOwnIdentity } from '#accounts/identities/identity.ts'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { Host } from '#platform/http/host.ts'
import { acceptPictureBodies, countUpload, pictureBodyOf } from '#platform/pictures/upload.ts'
import type { Workshop } from '#platform/pictures/workshop.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { resolveFieldAlias } from '#platform/http/body.ts'
import { defineErrors, type ApiError } from '#platform/api-error.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { accessGuard, bearerChallenges, endedApp } from '#tokens/families/access-token.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { signable, signableRoutes } from '#organizations/acts/signable.ts'
import { memberContextOf, requireMember } from '#organizations/membership/access.ts'
import { organizationAccessOf } from '#organizations/membership/app-access.ts'
import { resolveOrganizationClaim } from '#organizations/membership/context.ts'
import { createInvitation, revokeInvitation } from './invitations/invitation.ts'
import { invitationRoutes } from './invitations/invitation-routes.ts'
import { offerLogo } from './logo/logo.ts'
import { updateMember, listOrganizationMembers, getMember, removeMember } from './member.ts'
import {
  createOrganization,
  updateOrganization,
  deleteOrganization,
  listOrganizationsOfIdentity,
  listOwnOrganizations,
  toOrganization,
  toOwnOrganization,
} from './organization.ts'

const errors = defineErrors({
  workspace_creation_failed: [400, 'The identity has reached the maximum number of organizations.'],
  invalid_token: [401, "The user can no longer use this token's organization."],
  invalid_client: [403, 'The access token was not issued to this client_id.'],
  insufficient_scope: [
    403,
    'The user signed in with enterprise SSO only, so the token is limited to that organization.',
  ],
  too_many_organizations: [409, 'The identity has reached the maximum number of organizations.'],
})

const notAllowed = { sentence: 'The user has not allowed this app to create organizations.' }

type Surroundings = { kernel: ServerContext; apps: AppDirectory; keys: SigningKeys }

/** Registers what the pages of an account show of organizations. They are not at the business host. */
export function accountOrganizationRoutes(host: Host, kernel: ServerContext): void {
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listAccountOrganizations,
    onRequest: session.onRequest,
    async handler(request) {
      return { organizations: await listOwnOrganizations(kernel.db, session.of(request), kernel.clock()) }
    },
  })
}

/** Routes for apps: the organizations of the signed-in user. */
export function workspaceRoutes(host: Host, { kernel, apps, keys }: Surroundings): void {
  const { db, clock } = kernel
  const access = accessGuard(kernel, keys)
  const requireApp = (refusal: () => ApiError) => async (request: FastifyRequest) => {
    if (!(await apps.find(access.of(request).clientId))) throw refusal()
  }
  const reachOf = async (request: FastifyRequest): Promise<OrganizationAccess> => {
    const app = await apps.find(access.of(request).clientId)
    return app ? organizationAccessOf(db, app, access.of(request)) : 'none'
  }
  const requireWorth = async (request: FastifyRequest) => {
    if ((await resolveOrganizationClaim(db, access.of(request))).kind === 'revoked')
      throw errors.invalid_token({ headers: bearerChallenges.invalid })
  }

  host.route({
    ...endpoints.listOrganizations,
    onRequest: [access.onRequest, requireApp(() => errors.invalid_token(endedApp)), requireWorth],
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
    onRequest: [
      access.onRequest,
      requireApp(() => errors.invalid_client({ sentence: endedApp.sentence })),
      requireWorth,
    ],
    async handler(request, reply) {
      const { userId, identityId, clientId, byProviderAlone } = access.of(request)
      const { body } = request
      requireClient(clientId, resolveFieldAlias(body.client_id, body.clientId))
      if (byProviderAlone) throw errors.insufficient_scope()
      if ((await reachOf(request)) !== 'create') throw errors.workspace_creation_failed(notAllowed)
      const founder = { userId, identityId, clientId }
      const begun = await createOrganization(kernel, founder, body.name, clock())
      if (!begun) throw errors.workspace_creation_failed()
      return reply.status(201).send({ organization: toOrganization(begun) })
    },
  })
}

/** Throws `invalid_client` if a request names another client than the one its token was issued to. */
function requireClient(clientId: ClientId, named: string | undefined): void {
  if (named !== undefined && named !== clientId) throw errors.invalid_client()
}

type Organizing = { kernel: ServerContext }

/** What members may have to sign. */
export const acts = [
  signable(endpoints.updateOrganization, async ({ kernel }: Organizing, { asking, body }, now) => ({
    organization: await updateOrganization(kernel, asking, body, now),
  })),
  signable(endpoints.deleteOrganization, async ({ kernel }: Organizing, { asking }, now) => {
    await deleteOrganization(kernel, asking, now)
    return null
  }),
  signable(endpoints.updateMember, async ({ kernel }: Organizing, { asking, params, body }, now) => ({
    member: await updateMember(kernel, { ...asking, memberId: params.memberId }, body, now),
  })),
  signable(endpoints.removeMember, async ({ kernel }: Organizing, { asking, params }, now) => {
    await removeMember(kernel, { ...asking, memberId: params.memberId }, now)
    return null
  }),
  signable(invitations.createInvitation, ({ kernel }: Organizing, { asking, body, caller }, now) =>
    createInvitation(kernel, { ...asking, language: caller.language }, body, now),
  ),
  signable(invitations.revokeInvitation, async ({ kernel }: Organizing, { asking, params }, now) => {
    await revokeInvitation(kernel, { ...asking, invitationId: params.invitationId }, now)
    return null
  }),
]

export type OrganizationServices = { kernel: ServerContext; workshop: Workshop }

/** Routes for users and their organizations, on the business host. */
export function organizationRoutes(host: Host, { kernel, workshop }: OrganizationServices): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)
  signableRoutes(host, { kernel }, acts)
  memberRoutes(host, kernel)
  invitationRoutes(host, kernel)
  logoRoutes(host, { kernel, workshop })

  host.route({
    ...endpoints.listOwnOrganizations,
    onRequest: session.onRequest,
    async handler(request) {
      return { organizations: await listOwnOrganizations(db, session.of(request), clock()) }
    },
  })

  host.route({
    ...endpoints.createOrganization,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const acting = session.of(request)
      const { userId } = acting
      const { name, identityId } = request.body
      const now = clock()
      await requireOwnIdentity(db, acting, identityId, now)
      const begun = await createOrganization(kernel, { userId, identityId, session: acting }, name, now)
      if (!begun) throw errors.too_many_organizations()
      return reply.status(201).send({ organization: toOwnOrganization(begun) })
    },
  })

  host.route({
    ...endpoints.getOrganization,
    onRequest: session.onRequest,
    async handler(request) {
      const member = await requireMember(kernel, memberContextOf(request, session.of(request)), 'read', clock())
      return { organization: toOwnOrganization(member) }
    },
  })
}

/** Route for pictures, of which an organization can make one its logo. */
function logoRoutes(host: Host, { kernel, workshop }: OrganizationServices): void {
  const session = sessionGuard(kernel)

  host.register(async (scope) => {
    acceptPictureBodies(scope)
    scope.withTypeProvider<TypeBoxTypeProvider>().route({
      ...uploadOrganizationPicture,
      bodyLimit: limits.pictureBytesMax,
      async onRequest(request, reply) {
        await session.onRequest(request)
        const acting = session.of(request)
        await countUpload(kernel.rateLimits, { by: acting.userId, counted: ownKey(acting, kernel.clock()) }, reply)
      },
      async handler(request, reply) {
        const asking = memberContextOf(request, session.of(request))
        const picture = await offerLogo({ ...kernel, workshop }, asking, pictureBodyOf(request), kernel.clock())
        return reply.status(201).send({ picture })
      },
    })
  })
}

/** Routes for members. */
function memberRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listMembers,
    onRequest: session.onRequest,
    async handler(request) {
      const now = clock()
      const acting = session.of(request)
      const member = await requireMember(kernel, memberContextOf(request, acting), 'read', now)
      return listOrganizationMembers(kernel, { session: acting, member }, request.query, now)
    },
  })

  host.route({
    ...endpoints.getMember,
    onRequest: session.onRequest,
    async handler(request) {
      const member = await requireMember(kernel, memberContextOf(request, session.of(request)), 'read', clock())
      return { member: await getMember(db, member, request.params.memberId) }
    },
  })
}
