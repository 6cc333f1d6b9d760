import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'

/** What the console sends people here for, as its link says it: of which organization, as whom, and whether anew. */
export type Asked = { organizationId: string; identityId: string; renews: boolean }

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function askedIn(search: string): Asked | undefined {
  const query = new URLSearchParams(search)
  const [organizationId = '', identityId = ''] = ['organization', 'identity'].map((name) => query.get(name) ?? '')
  if (!uuid.test(organizationId) || !uuid.test(identityId)) return undefined
  return { organizationId, identityId, renews: query.has('renew') }
}

/**
 * What there is to do: a key to make, in place of one or of none; those to share that members lack; or to make the
 * encryption key of whoever is here, without which they are given none.
 */
export type Errand =
  | { what: 'make'; replaces: string | undefined }
  | { what: 'share'; keys: OrganizationKey[] }
  | { what: 'prepare' }

type Organization = Pick<OwnOrganization, 'encryptionMode' | 'scopes'>

/** What a member has to do here; undefined where that is nothing. */
export function errandOf(
  asked: Pick<Asked, 'renews'>,
  organization: Organization,
  { keys, isPrepared }: { keys: OrganizationKey[]; isPrepared: boolean },
): Errand | undefined {
  return errandOfKeeper(asked, organization, keys) ?? (isPrepared ? undefined : { what: 'prepare' })
}

/** The same for who looks after the keys that members make. */
function errandOfKeeper(
  { renews }: Pick<Asked, 'renews'>,
  { encryptionMode, scopes }: Organization,
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
