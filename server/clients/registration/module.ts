import {
  createApp,
  deleteApp,
  getAdminApp,
  listApps,
  removeAppIcon,
  rotateAppSecret,
  setAppIcon,
  updateApp,
} from '@countersign/protocol/clients/apps'
import {
  createOwnApp,
  deleteOwnApp,
  getOwnApp,
  getOwnAppUsage,
  listOwnApps,
  removeOwnAppIcon,
  rotateOwnAppSecret,
  setOwnAppIcon,
  updateOwnApp,
} from '@countersign/protocol/clients/developer'
import { deleteAppsOfUser, forgetOwnerIdentities } from './app.ts'
import { pruneMetadataDocumentClients } from './metadata-documents/metadata-document-client.ts'
import { appRoutes, type RegistrationServices } from './routes.ts'
import { pruneSecrets } from './authentication/secret.ts'
import { afterCommit } from '#platform/database/database.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['app.created', 'app.updated', 'app.deleted', 'app.secret.rotated'] as const
const rateLimits = {
  'client-authentication-failures-per-client': { points: 60, seconds: 60 },
  // So many that it takes a hundred networks to turn the `invalid_client` of others into a 429.
  'client-authentication-failures-per-client-global': { points: 6000, seconds: 60 },
  'app-changes-per-user': { points: 60, seconds: 3600 },
  'client-metadata-fetches': { points: 30, seconds: 60 },
  metadata: { points: 600, seconds: 60 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'clients/registration': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'clients/registration': keyof typeof rateLimits
  }
}

export const registration = defineModule<RegistrationServices>()({
  name: 'clients/registration',
  endpoints: [
    createApp,
    listApps,
    getAdminApp,
    updateApp,
    setAppIcon,
    removeAppIcon,
    deleteApp,
    rotateAppSecret,
    createOwnApp,
    listOwnApps,
    getOwnApp,
    getOwnAppUsage,
    updateOwnApp,
    setOwnAppIcon,
    removeOwnAppIcon,
    deleteOwnApp,
    rotateOwnAppSecret,
  ],
  pages: ({ developerPortal }) => ({
    auth: developerPortal
      ? {
          '/developers': 'developers',
          '/developers/new': 'developers',
          '/developers/apps/:clientId': 'developers',
          '/developers/apps/:clientId/:tab': 'developers',
        }
      : {},
  }),
  mount: (hosts, services) => appRoutes(hosts.api, services),
  auditActions,
  rateLimits,
  tables: {
    app: { backup: 'include', placement: 'every node' },
    app_ending: { backup: 'include', placement: 'every node' },
    app_access_group: { backup: 'include', placement: 'every node' },
    app_origin: { backup: 'include', placement: 'every node' },
    app_secret: { backup: 'include', placement: 'every node' },
  },
  cleanupTasks: { 'client-secrets': pruneSecrets, 'metadata-document-clients': pruneMetadataDocumentClients },
  metadata: ({ clientDocuments }) => (clientDocuments ? { client_id_metadata_document_supported: true } : {}),
  ended: {
    async apps(tx, ending, now, { apps, lifecycle }) {
      const deleted = await deleteAppsOfUser(tx, ending, now, lifecycle)
      for (const { clientId } of deleted) afterCommit(tx, () => apps.forgetEverywhere(clientId))
    },
    async identities(tx, ending) {
      await forgetOwnerIdentities(tx, ending)
    },
  },
})
