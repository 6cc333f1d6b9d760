import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { dayOf } from '../../../lib/text/dates.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Empty } from '../../../components/ui/Card.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { act } from '../session/acts.ts'
import { memberContext } from '../session/membership.ts'
import { organizationKeysUrl } from '../session/session.ts'
import { useBusinessMessages } from '../words.ts'

type Props = { keys: OrganizationKey[]; organization: OwnOrganization; onMade: () => unknown }

/** The current key, which apps encrypt with. It can be shared and replaced. */
export function ActiveKey({ keys, organization, onMade }: Props) {
  const { keys: words } = useBusinessMessages()
  const doing = useActions()
  const inForce = keys.find(({ endedAt }) => endedAt === null)
  const isDue = inForce !== undefined && inForce.rotationDueSince !== null
  const isMadeByMembers = organization.encryptionMode === 'e2ee'
  const isToShare = isMadeByMembers && keys.some(canShare)
  const make: Action = {
    name: 'make-key',
    label: inForce ? words.replace : words.first,
    look: isDue || !inForce ? 'primary' : 'secondary',
    do: async () => {
      if (isMadeByMembers) return location.assign(organizationKeysUrl(organization, { renews: true }))
      const given = { ...memberContext(organization), body: inForce ? { replaces: inForce.keyId } : {} }
      await act('POST /api/organizations/:organizationId/keys', given)
      await onMade()
    },
  }
  const share: Action = {
    name: 'share-key',
    label: words.share,
    look: isDue ? 'secondary' : 'primary',
    do: () => location.assign(organizationKeysUrl(organization, { renews: false })),
  }
  const inOrder = isDue ? [make, share] : [share, make]
  const actions = <Actions of={isToShare ? inOrder : [make]} doing={doing} />
  if (!inForce)
    return (
      <Empty icon="key-round" title={words.none} level={2}>
        <p>{words.noneWhat}</p>
        {actions}
      </Empty>
    )
  return (
    <>
      <Standing of={inForce} />
      {actions}
    </>
  )
}

function Standing({
  of: { version, createdAt, keyCustody, membersWithout, rotationDueSince },
}: {
  of: OrganizationKey
}) {
  const { keys: words } = useBusinessMessages()
  const { language } = useLocale()
  const day = (instant: string) => dayOf(instant, language, new Date())
  return (
    <>
      <p>
        {words.inForce(version, day(createdAt))} {words.kept[keyCustody]}{' '}
        {membersWithout > 0 && words.without(membersWithout)}
      </p>
      {rotationDueSince !== null && <p class="problem">{words.due(day(rotationDueSince))}</p>}
    </>
  )
}

function canShare({ keyCustody, held, membersWithout }: OrganizationKey): boolean {
  return keyCustody === 'identity_grants' && held && membersWithout > 0
}
