import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'

/**
 * The parameters in the link from the organization page: the organization, the identity, and whether to replace the
 * key.
 */
export type KeyTaskQuery = { organizationId: string; identityId: string; renews: boolean }

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function parseKeyTaskQuery(search: string): KeyTaskQuery | undefined {
  const query = new URLSearchParams(search)
  const [organizationId = '', identityId = ''] = ['organization', 'identity'].map((name) => query.get(name) ?? '')
  if (!uuid.test(organizationId) || !uuid.test(identityId)) return undefined
  return { organizationId, identityId, renews: query.has('renew') }
}

/**
 * The task of a member: create a key, which may replace another one, share keys that members lack, or create their own
 * encryption key, which they need to receive keys.
 */
export type KeyTask =
  | { what: 'make'; replaces: string | undefined }
  | { what: 'share'; keys: OrganizationKey[] }
  | { what: 'prepare' }

type Organization = Pick<OwnOrganization, 'encryptionMode' | 'scopes'>

/** Returns the task of a member. Returns undefined if there is nothing to do. */
export function keyTaskOf(
  query: Pick<KeyTaskQuery, 'renews'>,
  organization: Organization,
  { keys, isPrepared }: { keys: OrganizationKey[]; isPrepared: boolean },
): KeyTask | undefined {
  return taskOfKeyManager(query, organization, keys) ?? (isPrepared ? undefined : { what: 'prepare' })
}

/** Returns the task of a member who manages keys, if members store them. */
function taskOfKeyManager(
  { renews }: Pick<KeyTaskQuery, 'renews'>,
  { encryptionMode, scopes }: Organization,
  keys: OrganizationKey[],
): KeyTask | undefined {
  if (encryptionMode !== 'e2ee' || !scopes.includes('manage_keys')) return undefined
  const inForce = keys.find(({ endedAt }) => endedAt === null)
  if (renews || inForce?.keyCustody !== 'identity_grants') return { what: 'make', replaces: inForce?.keyId }
  const missing = keys.filter(
    ({ keyCustody, held, membersWithout }) => keyCustody === 'identity_grants' && held && membersWithout > 0,
  )
  return missing.length === 0 ? undefined : { what: 'share', keys: missing }
}
