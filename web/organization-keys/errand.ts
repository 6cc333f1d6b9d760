import type { OrganizationKey } from '@countersign/protocol/organization-keys'
import type { OwnOrganization } from '@countersign/protocol/organizations'

/** What the console sends people here for, as its link says it: of which organization, as whom, and whether anew. */
export type Asked = { organizationId: string; identityId: string; renews: boolean }

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function askedIn(search: string): Asked | undefined {
  const query = new URLSearchParams(search)
  const [organizationId = '', identityId = ''] = ['organization', 'identity'].map((name) => query.get(name) ?? '')
  if (!uuid.test(organizationId) || !uuid.test(identityId)) return undefined
  return { organizationId, identityId, renews: query.has('renew') }
}

/** What there is to do: a key to make, in place of one or of none, or those to share that members lack. */
export type Errand = { what: 'make'; replaces: string | undefined } | { what: 'share'; keys: OrganizationKey[] }

/** What there is to do with the keys of an organization; undefined where that is nothing that a member does. */
export function errandOf(
  { renews }: Pick<Asked, 'renews'>,
  { encryptionMode, scopes }: Pick<OwnOrganization, 'encryptionMode' | 'scopes'>,
  keys: OrganizationKey[],
): Errand | undefined {
  if (encryptionMode !== 'e2ee' || !scopes.includes('manage_keys')) return undefined
  const inForce = keys.find(({ endedAt }) => endedAt === null)
  if (renews || inForce?.keyCustody !== 'identity_grants') return { what: 'make', replaces: inForce?.keyId }
  const lacking = keys.filter(
    ({ keyCustody, held, membersWithout }) => keyCustody === 'identity_grants' && held && membersWithout > 0,
  )
  return lacking.length === 0 ? undefined : { what: 'share', keys: lacking }
}
