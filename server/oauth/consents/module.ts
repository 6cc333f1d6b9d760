import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/oauth/authorizations'
import { deleteConsents, listAuthorizations, readGrants } from './consent.ts'
import { authorizationRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['app.disconnected'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'oauth/consents': (typeof auditActions)[number]
  }
}

export const consents = defineModule()({
  name: 'oauth/consents',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, { kernel }) => authorizationRoutes(hosts.api, kernel),
  auditActions,
  tables: { authorization_consent: 'include' },
  ended: { identities: (tx, { identityIds }) => deleteConsents(tx, identityIds) },
  exported: {
    account: { authorizations: (db, { userId }) => listAuthorizations(db, userId) },
    identity: { grants: readGrants },
  },
})
