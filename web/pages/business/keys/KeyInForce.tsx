import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { dayOf } from '../../../lib/text/dates.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useSpeech } from '../../../components/frame/Root.tsx'
import { act } from '../session/acts.ts'
import { asMember } from '../session/memberships.ts'
import { addressForKeys } from '../session/session.ts'
import { useBusinessWords } from '../words.ts'

type Props = { keys: OrganizationKey[]; organization: OwnOrganization; onMade: () => unknown }

/** The key that apps encrypt with, and what there is to do about it: to share it, or to make another one. */
export function KeyInForce({ keys, organization, onMade }: Props) {
  const { keys: words } = useBusinessWords()
  const doing = useDoing()
  const inForce = keys.find(({ endedAt }) => endedAt === null)
  const isDue = inForce !== undefined && inForce.rotationDueSince !== null
  const isMadeByMembers = organization.encryptionMode === 'e2ee'
  const isToShare = isMadeByMembers && keys.some(canShare)
  const make: Action = {
    name: 'make-key',
    label: inForce ? words.replace : words.first,
    look: isDue || !inForce ? 'primary' : 'secondary',
    do: async () => {
      if (isMadeByMembers) return location.assign(addressForKeys(organization, { renews: true }))
      const given = { ...asMember(organization), body: inForce ? { replaces: inForce.keyId } : {} }
      await act('POST /api/organizations/:organizationId/keys', given)
      await onMade()
    },
  }
  const share: Action = {
    name: 'share-key',
    label: words.share,
    look: isDue ? 'secondary' : 'primary',
    do: () => location.assign(addressForKeys(organization, { renews: false })),
  }
  const inOrder = isDue ? [make, share] : [share, make]
  return (
    <>
      {inForce ? <Standing of={inForce} /> : <p>{words.none}</p>}
      <Actions of={isToShare ? inOrder : [make]} doing={doing} />
    </>
  )
}

function Standing({
  of: { version, createdAt, keyCustody, membersWithout, rotationDueSince },
}: {
  of: OrganizationKey
}) {
  const { keys: words } = useBusinessWords()
  const { language } = useSpeech()
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
