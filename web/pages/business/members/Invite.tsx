import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { Invitation, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { Refused } from '../../../lib/call.ts'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { CopyButton } from '../../../components/display/CopyButton.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Field } from '../../../components/form/Field.tsx'
import { useWords } from '../../../components/frame/Root.tsx'
import { StepHeading } from '../../../components/frame/StepHeading.tsx'
import { act } from '../session/acts.ts'
import { invitedBy } from './invited.ts'
import { asMember } from '../session/memberships.ts'
import { RoleOptions } from './RoleOptions.tsx'
import { useBusinessWords } from '../words.ts'

type Props = {
  organization: OwnOrganization
  onInvited: (invitation: Invitation) => void
  onClose: () => void
}

/** Asks whom to invite and as what, and then shows the link, this once. */
export function Invite({ organization, onInvited, onClose }: Props) {
  const words = useBusinessWords()
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
  const words = useBusinessWords()
  const { frame } = useWords()
  const doing = useDoing()
  const [whom, setWhom] = useState('')
  const [role, setRole] = useState<OrganizationRole>('member')
  const [checked, setChecked] = useState(false)
  const [unknown, setUnknown] = useState<string>()
  const invited = invitedBy(whom)
  const problem = invited ? words.nobody : words.whomInvalid
  const invite: Action = {
    name: 'send-invitation',
    label: words.inviteNow,
    do: async () => {
      setChecked(true)
      if (!invited) return
      const given = { ...asMember(organization), body: { ...invited, role } }
      const made = await act('POST /api/organizations/:organizationId/invitations', given).catch(noteUnknown)
      if (made) onInvited(made.invitation, made.url)
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }

  function noteUnknown(error: unknown) {
    if (!(error instanceof Refused && error.code === 'identity_not_found')) throw error
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

/** The link that lets in whom it names, and nobody else. */
function Link({ url, onClose }: { url: string; onClose: () => void }) {
  const words = useBusinessWords()
  const doing = useDoing()
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
