import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { act } from '../session/acts.ts'
import { asMember } from '../session/memberships.ts'
import { useBusinessWords } from '../words.ts'

type Props = { organization: OwnOrganization; onChanged: (organization: OwnOrganization) => void }

/** Whether everybody has to sign in with the organization's own sign-in. */
export function RequireSso({ organization, onChanged }: Props) {
  const { sso: words } = useBusinessWords()
  const doing = useDoing()
  const { ssoRequired, scopes } = organization
  const turn: Action = {
    name: ssoRequired ? 'let-without-sso' : 'require-sso',
    label: ssoRequired ? words.letWithout : words.require,
    look: 'secondary',
    do: async () => {
      const given = { ...asMember(organization), body: { ssoRequired: !ssoRequired } }
      onChanged((await act('PATCH /api/organizations/:organizationId', given)).organization)
    },
  }
  return (
    <>
      <h2>{words.everybody}</h2>
      <p>{ssoRequired ? words.required : words.notRequired}</p>
      {scopes.includes('manage_org') && <Actions of={[turn]} doing={doing} />}
    </>
  )
}
