import {
  type OrganizationRole,
  type OrganizationScope,
  organizationScopes,
  scopesOfRole,
} from '@countersign/protocol/formats/role'
import type {
  MemberChange,
  OrganizationMember,
  OwnOrganization,
} from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { assignableRoles, assignableScopes, isRole, memberRef } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'
import { formOf } from './people.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/frame/Root.tsx'
import { act } from '../session/acts.ts'
import { ApprovalsNote } from '../session/ApprovalsNote.tsx'
import { useReopenedNote } from '../session/ReturnedActNote.tsx'
import { isBoolean, isTexts, rebaseList, rebaseValue, useKeptState } from '../session/kept-input.ts'

type RoleOptionsProps = {
  organization: OwnOrganization
  chosen: OrganizationRole
  onChoose: (role: OrganizationRole) => void
}

/** The roles that the user may assign, each with its permissions. */
export function RoleOptions({ organization, chosen, onChoose }: RoleOptionsProps) {
  const words = useBusinessMessages()
  return (
    <RadioGroup
      name="role"
      legend={words.role}
      of={assignableRoles(organization).map((value) => ({
        value,
        label: words.roles[value],
        about: words.rolesWhat[value],
      }))}
      chosen={[chosen]}
      onChoose={onChoose}
    />
  )
}

function areScopes(value: unknown): value is OrganizationScope[] {
  return isTexts(value) && value.every((each) => organizationScopes.some((scope) => scope === each))
}

type Permissions = { role: OrganizationRole; scopes: readonly OrganizationScope[]; signingAuthority: boolean }

function permissionsOf({ role, scopes, signingAuthority }: OrganizationMember): Permissions {
  return { role, scopes, signingAuthority }
}

/** Returns what a change changes. The service gives a new role its own permissions, unless the change names others. */
function diffPermissions(before: Permissions, { role, scopes, signingAuthority }: Permissions): MemberChange {
  if (role !== before.role) return { role, scopes: [...scopes], signingAuthority }
  const areSame = scopes.length === before.scopes.length && scopes.every((scope) => before.scopes.includes(scope))
  return {
    ...(!areSame && { scopes: [...scopes] }),
    ...(signingAuthority !== before.signingAuthority && { signingAuthority }),
  }
}

type EditMemberProps = {
  organization: OwnOrganization
  member: OrganizationMember
  onChanged: (member: OrganizationMember) => void
  onClose: () => void
}

/** Edits the role, permissions and signing authority of a member. A role sets its scopes, which can then be changed. */
export function EditMember({ organization, member, onChanged, onClose }: EditMemberProps) {
  const words = useBusinessMessages()
  const { frame } = useMessages()
  const doing = useActions()
  const form = formOf(member)
  const note = useReopenedNote(form)
  // Only what differs from here is sent.
  const [before] = useState(() => permissionsOf(member))
  const [role, setRole] = useKeptState(`${form}.role`, before.role, isRole, rebaseValue)
  // A role that the user has chosen comes with its permissions.
  const rebases = role === before.role
  const [scopes, setScopes] = useKeptState<readonly OrganizationScope[]>(
    `${form}.scopes`,
    before.scopes,
    areScopes,
    rebases ? rebaseList : undefined,
  )
  const [signingAuthority, setAuthority] = useKeptState(
    `${form}.authority`,
    before.signingAuthority,
    isBoolean,
    rebases ? rebaseValue : undefined,
  )
  const save: Action = {
    name: 'save-member',
    label: words.save,
    do: async () => {
      const body = diffPermissions(before, { role, scopes, signingAuthority })
      if (Object.keys(body).length === 0) return onClose()
      const given = { ...memberRef(organization, member), body }
      onChanged((await act('PATCH /api/organizations/:organizationId/members/:memberId', given)).member)
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'secondary', do: onClose }
  return (
    <Dialog title={words.changeTitle(member.displayName)} onClose={onClose}>
      {note}
      <ActionForm submit={save} others={[cancel]} doing={doing}>
        <RoleOptions
          organization={organization}
          chosen={role}
          onChoose={(chosen) => {
            setRole(chosen)
            setScopes(scopesOfRole[chosen])
            setAuthority(isSigner(scopesOfRole[chosen]))
          }}
        />
        {role !== 'owner' && (
          <RadioGroup
            name="scopes"
            legend={words.mayDo}
            of={assignableScopes(organization).map((value) => ({ value, label: words.scopes[value] }))}
            chosen={[...scopes]}
            several
            onChoose={(scope) => setScopes(toggled(scopes, scope))}
          />
        )}
        {isNewToCouncil(before.scopes, scopes) && <ApprovalsNote organization={organization} of="permission" />}
        <RadioGroup
          name="signingAuthority"
          legend={words.authority}
          of={[{ value: 'signingAuthority', label: words.hasAuthority, about: words.authorityWhat }]}
          chosen={signingAuthority ? ['signingAuthority'] : []}
          several
          onChoose={() => setAuthority(!signingAuthority)}
        />
      </ActionForm>
    </Dialog>
  )
}

/** Returns whether these permissions are among those that a council admits members for, and new to the member. */
function isNewToCouncil(before: readonly OrganizationScope[], scopes: readonly OrganizationScope[]): boolean {
  return councilScopes.some((scope) => scopes.includes(scope) && !before.includes(scope))
}

const councilScopes = ['sign', 'approve'] as const

function isSigner(scopes: readonly OrganizationScope[]): boolean {
  return scopes.includes('sign')
}

function toggled(scopes: readonly OrganizationScope[], scope: OrganizationScope): OrganizationScope[] {
  return organizationScopes.filter((each) => scopes.includes(each) !== (each === scope))
}
