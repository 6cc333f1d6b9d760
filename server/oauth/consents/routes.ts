import { scopesOf } from '@countersign/protocol/formats/scope'
import * as endpoints from '@countersign/protocol/oauth/authorizations'
import { findActiveResource } from '#clients/resources/resource.ts'
import { readDelegation } from '#oauth/delegation/delegation.ts'
import { requireOwnIdentity } from '#accounts/identities/identity.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { listChoices } from '#organizations/membership/context.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { disconnect, listAuthorizations, readAuthorizationIn } from './consent.ts'

/** Delegations are the user's own: a session that an organization alone has opened learns of none, and uses none. */
const withoutDelegation = (wanted: string) => ({ delegation: null, missingScopes: scopesOf(wanted), covered: false })

export function authorizationRoutes(host: Host, kernel: Kernel): void {
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
    ...endpoints.readAuthorization,
    onRequest: session.onRequest,
    async handler(request) {
      const { identity_id: identityId, scope = '', requested_resource: named } = request.query
      const { requested_scope: wanted = '', communication_mode: mode = 'user_present' } = request.query
      const { clientId } = request.params
      await requireOwnIdentity(db, session.of(request), identityId)
      const choosing = request.query.organization_id !== undefined
      const asked = { identityId, clientId, scope: scopesOf(scope) }
      const read = {
        ...(await readAuthorizationIn(db, session.of(request), asked, clock())),
        ...(choosing && {
          organizations: await listChoices(kernel, session.of(request), { identityId, clientId }, clock()),
        }),
      }
      const resource = named === undefined ? undefined : await findActiveResource(db, named)
      if (!resource) return read
      if (session.of(request).authMethod !== 'passkey') return { ...read, connector: withoutDelegation(wanted) }
      const parties = { identityId, sourceClientId: clientId, resourceId: resource.resourceId }
      return { ...read, connector: await readDelegation(db, parties, { scope: scopesOf(wanted), mode }) }
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
