import type { OrganizationRole } from '@countersign/protocol/formats/role'
import { scopesOfRole } from '@countersign/protocol/formats/role'
import type { Invitation } from '@countersign/protocol/organizations/invitations'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { ApiError } from '../../../lib/api/call.ts'
import { TextArea } from '../../../components/display/Facts.tsx'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/frame/Root.tsx'
import { Permits } from '../../../components/ui/Facts.tsx'
import { act } from '../session/acts.ts'
import { ApprovalsNote } from '../session/ApprovalsNote.tsx'
import { isText, useKeptState } from '../session/kept-input.ts'
import { useReopenedNote } from '../session/ReturnedActNote.tsx'
import { isRole, memberContext } from '../session/membership.ts'
import { useBusinessMessages, usePeopleMessages } from '../words.ts'
import { RoleOptions } from './ChangeMember.tsx'
import { type Failure, Invited, type Result, useDescribedFailures } from './Invited.tsx'
import { type Invitee, inviteesMax, nameOf, noteRest, parseInvitees, type Rest } from './invitees.ts'

type Props = {
  organization: OwnOrganization
  /** Invitations that are still to be made. */
  rest?: Rest | undefined
  onInvited: (invitations: Invitation[]) => void
  onClose: () => void
}

/** Invites members with a role, and then says what was mailed, and shows the links, which cannot be shown again. */
export function Invite({ organization, rest, onInvited, onClose }: Props) {
  const words = useBusinessMessages()
  const [result, setResult] = useState<Result>()
  const note = useReopenedNote('invite')
  return (
    <Dialog title={words.invite} {...(!result && { onClose })}>
      {result === undefined && note}
      {result === undefined ? (
        <Question
          organization={organization}
          rest={rest}
          onClose={onClose}
          onInvited={(done) => {
            onInvited(done.created.map(({ invitation }) => invitation))
            setResult(done)
          }}
        />
      ) : (
        <Invited of={result} onClose={onClose} onAgain={() => setResult(undefined)} />
      )}
    </Dialog>
  )
}

type QuestionProps = Omit<Props, 'onInvited'> & { onInvited: (result: Result) => void }

function Question({ organization, rest, onInvited, onClose }: QuestionProps) {
  const words = useBusinessMessages()
  const people = usePeopleMessages()
  const { frame } = useMessages()
  const doing = useActions()
  const [typed, setTyped] = useKeptState('invite.invitees', rest?.names.join('\n') ?? '', isText)
  const [role, setRole] = useKeptState<OrganizationRole>('invite.role', rest?.role ?? 'member', isRole)
  const [checked, setChecked] = useState(false)
  const [refused, setRefused] = useState<{ typed: string; failed: Failure[] }>()
  const describe = useDescribedFailures()
  const invitees = parseInvitees(typed)
  const invite: Action = {
    name: 'send-invitation',
    label: words.inviteNow,
    do: async () => {
      setChecked(true)
      if (!invitees || invitees.length > inviteesMax) return
      const result = await inviteEach(organization, invitees, role)
      if (result.created.length > 0) return onInvited(result)
      setRefused({ typed, failed: result.failed })
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'secondary', do: onClose }
  const problem = !invitees
    ? words.inviteesInvalid
    : invitees.length > inviteesMax
      ? people.tooMany(inviteesMax)
      : refused?.typed === typed
        ? describe(refused.failed, invitees.length)
        : undefined
  return (
    <ActionForm submit={invite} others={[cancel]} doing={doing}>
      <TextArea
        name="invitees"
        label={words.invitees}
        value={typed}
        onInput={setTyped}
        keys="text"
        hint={people.inviteesHint}
        problem={checked ? problem : undefined}
      />
      <RoleOptions organization={organization} chosen={role} onChoose={setRole} />
      <div class="role-permits">
        <p class="small soft">{people.roleMay(words.roles[role])}</p>
        <Permits of={scopesOfRole[role].map((key) => ({ key, text: words.scopes[key], isAllowed: true }))} />
      </div>
      {scopesOfRole[role].some((scope) => scope === 'sign' || scope === 'approve') && (
        <ApprovalsNote organization={organization} of="permission" />
      )}
    </ActionForm>
  )
}

/**
 * Invites each of several: an invitation is an act of its own. A member who signs leaves for the first one to the page
 * that signs, and comes back for the next, and for those that were refused: the form then says why.
 */
async function inviteEach(organization: OwnOrganization, invitees: Invitee[], role: OrganizationRole): Promise<Result> {
  const result: Result = { created: [], failed: [] }
  for (const [index, invitee] of invitees.entries()) {
    const names = [...result.failed.map(({ name }) => name), ...invitees.slice(index + 1).map(nameOf)]
    noteRest({ organizationId: organization.id, role, names })
    const given = { ...memberContext(organization), body: { ...invitee, role } }
    try {
      result.created.push(await act('POST /api/organizations/:organizationId/invitations', given))
    } catch (error) {
      const isOfInvitee = error instanceof ApiError && ['identity_not_found', 'already_member'].includes(error.code)
      if (isOfInvitee && (invitees.length > 1 || error.code === 'identity_not_found')) {
        result.failed.push({ name: nameOf(invitee), error })
        continue
      }
      noteRest(undefined)
      if (result.created.length === 0) throw error
      // The links of those that were created are shown only once.
      result.failed.push(...invitees.slice(index).map((each) => ({ name: nameOf(each), error })))
      return result
    }
  }
  noteRest(undefined)
  return result
}
