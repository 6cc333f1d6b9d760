import { isHandle } from '@countersign/protocol/formats/handle'
import { isEmail } from '@countersign/protocol/formats/email'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { Invitation, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { ApiError } from '../../../lib/api/call.ts'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { CopyButton } from '../../../components/display/Copies.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Field } from '../../../components/form/Field.tsx'
import { useMessages } from '../../../components/frame/Root.tsx'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { act } from '../session/acts.ts'
import { memberContext } from '../session/membership.ts'
import { RoleOptions } from './ChangeMember.tsx'
import { useBusinessMessages } from '../words.ts'

type Props = {
  organization: OwnOrganization
  onInvited: (invitation: Invitation) => void
  onClose: () => void
}

/** Invites a member with a role, and then shows the link, which cannot be shown again. */
export function Invite({ organization, onInvited, onClose }: Props) {
  const words = useBusinessMessages()
  const [url, setUrl] = useState<string>()
  return (
    <Dialog title={words.invite} onClose={onClose}>
      {url === undefined ? (
        <Question
          organization={organization}
          onClose={onClose}
          onInvited={(invitation, address) => {
            onInvited(invitation)
            setUrl(address)
          }}
        />
      ) : (
        <Link url={url} onClose={onClose} />
      )}
    </Dialog>
  )
}

type QuestionProps = {
  organization: OwnOrganization
  onInvited: (invitation: Invitation, url: string) => void
  onClose: () => void
}

function Question({ organization, onInvited, onClose }: QuestionProps) {
  const words = useBusinessMessages()
  const { frame } = useMessages()
  const doing = useActions()
  const [whom, setWhom] = useState('')
  const [role, setRole] = useState<OrganizationRole>('member')
  const [checked, setChecked] = useState(false)
  const [unknown, setUnknown] = useState<string>()
  const invited = parseInvitee(whom)
  const problem = invited ? words.nobody : words.whomInvalid
  const invite: Action = {
    name: 'send-invitation',
    label: words.inviteNow,
    do: async () => {
      setChecked(true)
      if (!invited) return
      const given = { ...memberContext(organization), body: { ...invited, role } }
      const made = await act('POST /api/organizations/:organizationId/invitations', given).catch(noteUnknown)
      if (made) onInvited(made.invitation, made.url)
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }

  function noteUnknown(error: unknown) {
    if (!(error instanceof ApiError && error.code === 'identity_not_found')) throw error
    setUnknown(whom)
    return undefined
  }

  return (
    <ActionForm submit={invite} others={[cancel]} doing={doing}>
      <Field
        name="whom"
        label={words.whom}
        value={whom}
        onInput={setWhom}
        keys="email"
        problem={checked && (!invited || unknown === whom) ? problem : undefined}
        exact
      />
      <RoleOptions organization={organization} chosen={role} onChoose={setRole} />
    </ActionForm>
  )
}

/** The link, which only the invited user can use. */
function Link({ url, onClose }: { url: string; onClose: () => void }) {
  const words = useBusinessMessages()
  const doing = useActions()
  const close: Action = { name: 'invitation-sent', label: words.done, look: 'quiet', do: onClose }
  return (
    <>
      <StepHeading level={3}>{words.link}</StepHeading>
      <div class="link">
        <output name="invitationUrl">{url}</output>
      </div>
      <CopyButton text={url} action="copy-invitation" />
      <Actions of={[close]} doing={doing} />
    </>
  )
}

/** Parses the username, with or without @, or the e-mail address of a user to invite. */
export function parseInvitee(text: string): { handle: string } | { email: string } | undefined {
  const written = text.trim()
  if (isEmail(written)) return { email: written }
  const handle = written.replace(/^@/, '')
  return isHandle(handle) ? { handle } : undefined
}
