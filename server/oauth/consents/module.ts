import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/oauth/authorizations'
import { deleteConsents, disconnectRecent, listAuthorizations, readGrants } from './consent.ts'
import { endConsentsOfDeletedApps } from './deleted-apps.ts'
import { type ConsentServices, authorizationRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['app.disconnected'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'oauth/consents': (typeof auditActions)[number]
  }
}

export const consents = defineModule<ConsentServices>()({
  name: 'oauth/consents',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, services) => authorizationRoutes(hosts.api, services),
  auditActions,
  tables: { authorization_consent: { backup: 'include', placement: { by: 'identity_id' }, export: 'authorizations' } },
  cleanupTasks: { 'consents-of-deleted-apps': endConsentsOfDeletedApps },
  ended: {
    identities: (tx, { identityIds }) => deleteConsents(tx, identityIds),
    recovered: (tx, ending, now) => disconnectRecent(tx, ending, now),
  },
  exported: {
    account: { authorizations: (db, { userId }) => listAuthorizations(db, userId) },
    identity: { grants: readGrants },
  },
})
