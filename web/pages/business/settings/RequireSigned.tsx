import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { act } from '../session/acts.ts'
import { asMember } from '../session/memberships.ts'
import { useBusinessWords } from '../words.ts'

type Props = { organization: OwnOrganization; onChanged: (organization: OwnOrganization) => void }

/** Whether what administrators do is signed by them. */
export function RequireSigned({ organization, onChanged }: Props) {
  const { signedActs: words } = useBusinessWords()
  const doing = useDoing()
  const { requireSignedActions } = organization
  const turn: Action = {
    name: requireSignedActions ? 'let-unsigned' : 'require-signed',
    label: requireSignedActions ? words.letUnsigned : words.require,
    look: 'secondary',
    do: async () => {
      const given = { ...asMember(organization), body: { requireSignedActions: !requireSignedActions } }
      onChanged((await act('PATCH /api/organizations/:organizationId', given)).organization)
    },
  }
  return (
    <section class="apart">
      <h2>{words.title}</h2>
      <p>{requireSignedActions ? words.required : words.notRequired}</p>
      <Actions of={[turn]} doing={doing} />
    </section>
  )
}
