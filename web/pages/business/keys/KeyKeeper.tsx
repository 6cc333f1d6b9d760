import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { Refused } from '../../../lib/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { act } from '../session/acts.ts'
import { asMember } from '../session/memberships.ts'
import { useBusinessWords } from '../words.ts'

type Props = {
  organization: OwnOrganization
  keys: OrganizationKey[]
  kmsUrl: string | undefined
  onChange: () => unknown
  onRemoved: () => unknown
}

/** Who keeps the next key of an organization: we, its own KMS, or its members alone. */
export function KeyKeeper({ organization, keys, kmsUrl, onChange, onRemoved }: Props) {
  const { encryptionMode, scopes } = organization
  const { keys: words } = useBusinessWords()
  const doing = useDoing()
  const change: Action = { name: 'change-keeper', label: words.change, look: 'secondary', do: onChange }
  const isKeeper = encryptionMode === 'enterprise_managed'
  const mayChange = scopes.includes('manage_org') || isKeeper
  const isFormer = kmsUrl !== undefined && !isKeeper
  const opensKeys = keys.some(({ keyCustody }) => keyCustody === 'customer_kms')
  const remove: Action = {
    name: 'remove-kms',
    label: words.removeKms,
    look: 'quiet',
    do: async () => {
      const given = { ...asMember(organization), body: null }
      await act('DELETE /api/organizations/:organizationId/kms', given).catch(acceptGone)
      await onRemoved()
    },
  }
  const actions = [...(mayChange ? [change] : []), ...(isFormer && !opensKeys ? [remove] : [])]
  return (
    <section class="apart">
      <h2>{words.keeper}</h2>
      <p>
        {words.modes[encryptionMode]}. {words.modesWhat[encryptionMode]}
      </p>
      {isKeeper && <p>{kmsUrl}</p>}
      {isFormer && <p>{opensKeys ? words.kmsOpens(kmsUrl) : words.kmsStays(kmsUrl)}</p>}
      <Actions of={actions} doing={doing} />
    </section>
  )
}

/** Removed already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'kms_not_found')) throw error
}
