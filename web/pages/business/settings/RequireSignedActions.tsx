import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { act } from '../session/acts.ts'
import { ApprovalsNote } from '../session/ApprovalsNote.tsx'
import { memberContext } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'
import { Card } from '../../../components/ui/Card.tsx'

type RequireSignedActionsProps = { organization: OwnOrganization; onChanged: (organization: OwnOrganization) => void }

/** Sets whether admins must sign their changes. */
export function RequireSignedActions({ organization, onChanged }: RequireSignedActionsProps) {
  const { signedActs: words } = useBusinessMessages()
  const doing = useActions()
  const { requireSignedActions } = organization
  const turn: Action = {
    name: requireSignedActions ? 'let-unsigned' : 'require-signed',
    label: requireSignedActions ? words.letUnsigned : words.require,
    look: 'secondary',
    do: async () => {
      const given = { ...memberContext(organization), body: { requireSignedActions: !requireSignedActions } }
      onChanged((await act('PATCH /api/organizations/:organizationId', given)).organization)
    },
  }
  return (
    <Card title={words.title}>
      <p>{requireSignedActions ? words.required : words.notRequired}</p>
      {requireSignedActions && <ApprovalsNote organization={organization} />}
      <Actions of={[turn]} doing={doing} />
    </Card>
  )
}
