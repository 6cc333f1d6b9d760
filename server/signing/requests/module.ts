import { endpointsOf } from '@countersign/protocol/endpoint'
import * as documents from '@countersign/protocol/signing/organization-documents'
import * as pending from '@countersign/protocol/signing/pending-signing'
import * as receipts from '@countersign/protocol/signing/receipts'
import {
  approveRequest,
  createSigningRequest,
  denyRequest,
  getSigningRequest,
  getSigningStatus,
  listSigningHistory,
  signRequest,
  startApproval,
} from '@countersign/protocol/signing/signing'
import {
  deleteOrganizationSignatures,
  expireOrganizationRequests,
  pruneOrganizationRequests,
  readOrganizationSignatures,
  withdrawOrganizationSignatures,
} from './organizations/organization-request.ts'
import { deleteApprovalFlows, pruneApprovalFlows } from './approvals/approval.ts'
import { pruneRecords } from './apps/quota.ts'
import {
  deleteSigningRequests,
  expireFormerRequests,
  expirePending,
  expireRequests,
  pruneFormerRequests,
  pruneRequests,
} from './identities/request.ts'
import { readAllRequests } from './request-export.ts'
import { organizationDocumentRoutes, signingPageRoutes, signingRequestRoutes, type SigningServices } from './routes.ts'
import { afterCommit } from '#platform/database/database.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'signing.requested',
  'signing.signed',
  'signing.denied',
  'signing.organization.requested',
  'organization.signing.signed',
  'organization.signing.approved',
  'organization.signing.denied',
] as const
const rateLimits = {
  'signing-requests-per-app-and-signer': { points: 600, seconds: 3600 },
  'signing-requests-per-unconnected-app-and-signer': { points: 20, seconds: 3600 },
  'signing-requests-of-unconnected-apps-per-signer': { points: 600, seconds: 3600 },
  'signing-approvals-per-user': { points: 600, seconds: 3600 },
  'signing-receipts': { points: 300, seconds: 60 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'signing/requests': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'signing/requests': keyof typeof rateLimits
  }
}

export const signingRequests = defineModule<SigningServices>()({
  name: 'signing/requests',
  endpoints: [
    createSigningRequest,
    getSigningStatus,
    listSigningHistory,
    getSigningRequest,
    startApproval,
    signRequest,
    approveRequest,
    denyRequest,
    ...endpointsOf(documents),
    ...endpointsOf(pending),
    ...endpointsOf(receipts),
  ],
  pages: () => ({ auth: { '/account/signing/receipts/:requestId': 'receipt', '/verify': 'receipt' } }),
  mount(hosts, services) {
    signingRequestRoutes(hosts.api, services)
    signingPageRoutes(hosts.auth, services)
    organizationDocumentRoutes(hosts.business, services.kernel)
  },
  auditActions,
  rateLimits,
  webhookEvents: ['signing.signed', 'signing.denied', 'signing.expired'],
  tables: {
    signing_request: { backup: 'include', placement: { by: 'identity_id' }, export: 'identities.signingRequests' },
    signing_request_route: { backup: 'include', placement: { by: 'request_id' }, export: 'identities.signingRequests' },
    signing_organization_request: { backup: 'include', placement: 'every node' },
    signing_organization_request_route: { backup: 'include', placement: 'every node' },
    signing_organization_signature: {
      backup: 'include',
      placement: 'every node',
      export: 'identities.organizationSignatures',
    },
    signing_signature_use: {
      backup: 'include',
      placement: { by: 'identity_id' },
      export: { because: 'It is the digest of a signature that the export has.' },
    },
    signing_request_record: { backup: 'exclude', placement: { by: 'signer_id' } },
    signing_former_request: {
      backup: 'include',
      placement: { by: 'request_id' },
      export: { because: 'It names deleted identities alone.' },
    },
    signing_expired_former_request: {
      backup: 'include',
      placement: { by: 'request_id' },
      export: { because: 'It names deleted identities alone.' },
    },
    signing_approval_flow: {
      backup: 'exclude',
      placement: { by: 'identity_id' },
      export: { because: 'It lasts for minutes.' },
    },
  },
  cleanupTasks: {
    'expired-signing-requests': expireRequests,
    'expired-requests-of-deleted-identities': expireFormerRequests,
    'ended-signing-requests': pruneRequests,
    'ended-requests-of-deleted-identities': pruneFormerRequests,
    'signing-request-records': pruneRecords,
    'expired-organization-requests': expireOrganizationRequests,
    'ended-organization-requests': pruneOrganizationRequests,
    'signing-approval-flows': pruneApprovalFlows,
  },
  ended: {
    async identities(tx, { identityIds }) {
      await deleteSigningRequests(tx, identityIds)
      await deleteOrganizationSignatures(tx, identityIds)
      await deleteApprovalFlows(tx, identityIds)
    },
    async access(tx, { identityIds }, now) {
      for (const identityId of identityIds) await expirePending(tx, identityId, now)
      await withdrawOrganizationSignatures(tx, identityIds)
      await deleteApprovalFlows(tx, identityIds)
    },
    async keys(tx, { identityIds }, now, { statusWaiter }) {
      const expired: string[] = []
      for (const identityId of identityIds) expired.push(...(await expirePending(tx, identityId, now)))
      await withdrawOrganizationSignatures(tx, identityIds)
      await deleteApprovalFlows(tx, identityIds)
      afterCommit(tx, () => statusWaiter.settled(expired))
    },
  },
  exported: { identity: { signingRequests: readAllRequests, organizationSignatures: readOrganizationSignatures } },
})
