import { getPublicSigningKey, verifySignature } from '@countersign/protocol/signing/keys'
import {
  adoptSigningKey,
  createSigningKey,
  getSigningKey,
  listSigningKeys as listSigningKeysEndpoint,
  rotateSigningKey,
} from '@countersign/protocol/signing/keys'
import type { ServerContext } from '#platform/module/services.ts'
import { deleteSigningKeys, firstSigningKey, listSigningKeys } from './key.ts'
import type { OldKeyRequests } from './rotation.ts'
import { signingKeyRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'signing_key.created',
  'signing_key.rotated',
  'signing_key.adopted',
  'signing_key.recovered',
] as const
const rateLimits = {
  'signing-key-rotations-per-identity': { points: 10, seconds: 24 * 3600 },
  'signature-verifications': { points: 300, seconds: 60 },
  'public-signing-key-reads': { points: 300, seconds: 60 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'signing/keys': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'signing/keys': keyof typeof rateLimits
  }
}

export const personalKeys = defineModule<{ kernel: ServerContext; oldKeyRequests: OldKeyRequests }>()({
  name: 'signing/keys',
  endpoints: [
    getPublicSigningKey,
    verifySignature,
    listSigningKeysEndpoint,
    getSigningKey,
    createSigningKey,
    rotateSigningKey,
    adoptSigningKey,
  ],
  mount: (hosts, { kernel, oldKeyRequests }) => signingKeyRoutes(hosts.api, kernel, oldKeyRequests),
  auditActions,
  rateLimits,
  tables: {
    signing_key: { backup: 'include', placement: { by: 'identity_id' }, export: 'identities.signingKeys' },
    signing_key_owner: { backup: 'include', placement: { by: 'public_key' }, export: 'identities.signingKeys' },
  },
  ended: { identities: (tx, { identityIds }, now) => deleteSigningKeys(tx, identityIds, now) },
  exported: { identity: { signingKeys: listSigningKeys } },
  registered: firstSigningKey,
})
