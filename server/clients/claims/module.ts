import { getAppClaims, replaceAppClaims } from '@countersign/protocol/clients/claims'
import type { AppDirectory } from '#clients/registration/directory.ts'
import { defineModule } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { claimRoutes } from './routes.ts'

export const claims = defineModule<{ kernel: ServerContext; apps: AppDirectory }>()({
  name: 'clients/claims',
  endpoints: [getAppClaims, replaceAppClaims],
  mount: (hosts, { kernel, apps }) => claimRoutes(hosts.api, kernel, apps),
  tables: {
    app_claim: { backup: 'include', placement: 'every node' },
    app_claim_group: { backup: 'include', placement: 'every node' },
  },
})
