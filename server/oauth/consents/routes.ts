import * as endpoints from '@countersign/protocol/oauth/authorizations'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { findDeniedAccess, hasAccess } from '#clients/registration/access/access.ts'
import type { AppDirectory } from '#clients/registration/directory.ts'
import { findActiveResource } from '#clients/resources/resource.ts'
import { findDelegation } from '#oauth/delegation/delegation.ts'
import { requireOwnIdentity } from '#accounts/identities/identity.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { listChoicesInSession } from './organization-choice.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { disconnect, listAuthorizations, getAuthorizationInSession } from './consent.ts'

/** Hides delegations, which belong to the user: a session opened by SSO alone neither sees nor uses them. */
const withoutDelegation = (requested: string) => ({
  delegation: null,
  missingScopes: [...ScopeSet.parse(requested)],
  covered: false,
})

const nothingGranted = (scope: string) => ({ authorization: null, missingScopes: [...ScopeSet.parse(scope)] })

/** Services of the routes of connected apps. */
export type ConsentServices = { kernel: ServerContext; apps: AppDirectory }

export function authorizationRoutes(host: Host, { kernel, apps }: ConsentServices): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listAuthorizations,
    onRequest: session.onRequest,
    async handler(request) {
      return { authorizations: await listAuthorizations(db, session.of(request).userId) }
    },
  })

  host.route({
    ...endpoints.getAuthorization,
    onRequest: session.onRequest,
    async handler(request) {
      const { identity_id: identityId, scope = '', requested_resource: named } = request.query
      const { requested_scope: requested = '', communication_mode: mode = 'user_present' } = request.query
      const { clientId } = request.params
      const now = clock()
      const acting = session.of(request)
      await requireOwnIdentity(db, acting, identityId, now)
      const app = await apps.find(clientId)
      if (app && !(await hasAccess(db, app, identityId)))
        return { ...nothingGranted(scope), accessDenied: { contact: app.access.contact } }
      const choosing = request.query.organization_id !== undefined
      const input = { identityId, clientId, scope: ScopeSet.parse(scope) }
      const read = {
        ...(await getAuthorizationInSession(db, acting, input, now)),
        ...(choosing && {
          organizations: await listChoicesInSession(kernel, acting, { identityId, clientId }, now),
        }),
      }
      const resource = named === undefined ? undefined : await findActiveResource(db, named)
      if (!resource) return read
      if (acting.authMethod !== 'passkey') return { ...read, connector: withoutDelegation(requested) }
      const parties = { identityId, sourceClientId: clientId, resourceId: resource.resourceId }
      const delegated = await findDelegation(db, parties, { scope: ScopeSet.parse(requested), mode })
      const accessDenied = await findDeniedAccess(db, resource.ownerClientId, identityId)
      return { ...read, connector: { ...delegated, ...(accessDenied && { accessDenied }) } }
    },
  })

  host.route({
    ...endpoints.disconnect,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await disconnect(db, session.of(request), request.params.id, clock())
      return reply.status(204).send(null)
    },
  })
}
