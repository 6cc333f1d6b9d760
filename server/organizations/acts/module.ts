import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/organizations/acts'
import * as proposals from '@countersign/protocol/organizations/proposals'
import { defineModule } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { deleteActs, pruneActs } from './act.ts'
import type { Performers } from './performance.ts'
import { deleteProposals, pruneProposals, reencryptProposals, withdrawApprovals } from './proposals/proposal.ts'
import { actRoutes, proposalRoutes } from './routes.ts'

const auditActions = [
  'organization.proposal.created',
  'organization.proposal.approved',
  'organization.proposal.withdrawn',
] as const
const rateLimits = {
  'council-notices-per-user': { points: 60, seconds: 24 * 3600 },
  'act-starts-per-organization': { points: 300, seconds: 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'organizations/acts': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'organizations/acts': keyof typeof rateLimits
  }
}

export const acts = defineModule<{ kernel: ServerContext; performers: Performers }>()({
  name: 'organizations/acts',
  endpoints: [...endpointsOf(endpoints), ...endpointsOf(proposals)],
  mount(hosts, { kernel, performers }) {
    actRoutes(hosts.business, kernel, performers)
    proposalRoutes(hosts.business, kernel)
  },
  auditActions,
  rateLimits,
  tables: {
    organization_act: { backup: 'exclude', placement: 'coordinator', export: { because: 'It lasts for minutes.' } },
    organization_proposal: {
      backup: 'exclude',
      placement: 'coordinator',
      export: { because: 'It is of the organization, and ends within days: the activity has it.' },
    },
    organization_proposal_approval: {
      backup: 'exclude',
      placement: 'coordinator',
      export: { because: 'It is of the organization, and ends within days: the activity has it.' },
    },
  },
  cleanupTasks: { 'organization-acts': pruneActs, 'organization-proposals': pruneProposals },
  maintenanceTasks: { 'reencrypt-proposals': reencryptProposals },
  ended: {
    async identities(tx, { identityIds }) {
      await deleteActs(tx, identityIds)
      await deleteProposals(tx, identityIds)
    },
    access: (tx, { identityIds }) => withdrawApprovals(tx, identityIds),
  },
})
