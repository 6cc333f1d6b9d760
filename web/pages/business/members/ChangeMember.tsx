import { organizationScopes, scopesOfRole, type OrganizationScope } from '@countersign/protocol/formats/role'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Options } from '../../../components/form/Options.tsx'
import { useWords } from '../../../components/frame/Root.tsx'
import { act } from '../session/acts.ts'
import { aboutMember } from '../session/memberships.ts'
import { RoleOptions } from './RoleOptions.tsx'
import { scopesToGive } from '../session/rights.ts'
import { useBusinessWords } from '../words.ts'

type Props = {
  organization: OwnOrganization
  member: OrganizationMember
  onChanged: (member: OrganizationMember) => void
  onClose: () => void
}

/** What a member is, may do, and may sign. A role brings its scopes, which then may be fewer or more. */
export function ChangeMember({ organization, member, onChanged, onClose }: Props) {
  const words = useBusinessWords()
  const { frame } = useWords()
  const doing = useDoing()
  const [role, setRole] = useState(member.role)
  const [scopes, setScopes] = useState<readonly OrganizationScope[]>(member.scopes)
  const [signingAuthority, setSigningAuthority] = useState(member.signingAuthority)
  const save: Action = {
    name: 'save-member',
    label: words.save,
    do: async () => {
      const given = { ...aboutMember(organization, member), body: { role, scopes: [...scopes], signingAuthority } }
      onChanged((await act('PATCH /api/organizations/:organizationId/members/:memberId', given)).member)
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.changeTitle(member.displayName)} onClose={onClose}>
      <ActionForm submit={save} others={[cancel]} doing={doing}>
        <RoleOptions
          organization={organization}
          chosen={role}
          onChoose={(chosen) => {
            setRole(chosen)
            setScopes(scopesOfRole[chosen])
            setSigningAuthority(isSigner(scopesOfRole[chosen]))
          }}
        />
        {role !== 'owner' && (
          <Options
            name="scopes"
            legend={words.mayDo}
            of={scopesToGive(organization).map((value) => ({ value, label: words.scopes[value] }))}
            chosen={[...scopes]}
            several
            onChoose={(scope) => setScopes(toggled(scopes, scope))}
          />
        )}
        <Options
          name="signingAuthority"
          legend={words.authority}
          of={[{ value: 'signingAuthority', label: words.hasAuthority, about: words.authorityWhat }]}
          chosen={signingAuthority ? ['signingAuthority'] : []}
          several
          onChoose={() => setSigningAuthority(!signingAuthority)}
        />
      </ActionForm>
    </Dialog>
  )
}

function isSigner(scopes: readonly OrganizationScope[]): boolean {
  return scopes.includes('sign')
}

function toggled(scopes: readonly OrganizationScope[], scope: OrganizationScope): OrganizationScope[] {
  return organizationScopes.filter((each) => scopes.includes(each) !== (each === scope))
}
