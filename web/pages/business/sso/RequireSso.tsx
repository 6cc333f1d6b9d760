import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { Card } from '../../../components/ui/Card.tsx'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { act } from '../session/acts.ts'
import { memberContext } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'

type Props = { organization: OwnOrganization; onChanged: (organization: OwnOrganization) => void }

/** Sets whether all members must sign in with SSO. */
export function RequireSso({ organization, onChanged }: Props) {
  const { sso: words } = useBusinessMessages()
  const doing = useActions()
  const { ssoRequired, scopes } = organization
  const turn: Action = {
    name: ssoRequired ? 'let-without-sso' : 'require-sso',
    label: ssoRequired ? words.letWithout : words.require,
    look: 'secondary',
    do: async () => {
      const given = { ...memberContext(organization), body: { ssoRequired: !ssoRequired } }
      onChanged((await act('PATCH /api/organizations/:organizationId', given)).organization)
    },
  }
  return (
    <Card title={words.everybody}>
      <p>{ssoRequired ? words.required : words.notRequired}</p>
      {scopes.includes('manage_org') && <Actions of={[turn]} doing={doing} />}
    </Card>
  )
}
