import * as endpoints from '@countersign/protocol/organizations'
import type { AppDirectory } from '#apps/app-directory.ts'
import { requireOwnIdentity } from '#identity/identity.ts'
import type { Host } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { either } from '#kernel/parse.ts'
import { refusals } from '#kernel/refusal.ts'
import { sessionGuard } from '#sessions/session.ts'
import { accessGuard } from '#tokens/access-token.ts'
import type { SigningKeys } from '#tokens/signing-keys.ts'
import { askingOf, requireMember } from './access.ts'
import {
  beginOrganization,
  changeOrganization,
  endOrganization,
  listOrganizationsOfIdentity,
  listOwnOrganizations,
  toOrganization,
  toOwnOrganization,
} from './organization.ts'

const refuse = refusals({
  workspace_creation_failed: [400, 'This identity is in as many organizations as it may be.'],
  invalid_client: [403, 'The access token is not of this client.'],
  too_many_organizations: [409, 'This identity is in as many organizations as it may be.'],
})

type Surroundings = { kernel: Kernel; apps: AppDirectory; keys: SigningKeys }

/** What apps may do with the organizations of whoever signed in to them. */
export function workspaceRoutes(host: Host, { kernel, apps, keys }: Surroundings): void {
  const { db, clock } = kernel
  const access = accessGuard(kernel, keys)

  host.route({
    ...endpoints.listOrganizations,
    onRequest: access.onRequest,
    async handler(request) {
      const { identityId, clientId } = access.of(request)
      requireClient(clientId, request.query.client_id)
      return { organizations: await listOrganizationsOfIdentity(db, identityId) }
    },
  })

  host.route({
    ...endpoints.createWorkspace,
    onRequest: access.onRequest,
    async handler(request, reply) {
      const { userId, identityId, clientId } = access.of(request)
      const { body } = request
      requireClient(clientId, either(body.client_id, body.clientId))
      if (!(await apps.find(clientId))) throw refuse.invalid_client({ sentence: 'The app is not registered any more.' })
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
      const begun = await beginOrganization(kernel, { userId, identityId }, name, clock())
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
