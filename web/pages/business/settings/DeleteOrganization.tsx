import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Field } from '../../../components/form/Field.tsx'
import { useMessages } from '../../../components/frame/Root.tsx'
import { act, signedOrUnsigned, type SignedAction } from '../session/acts.ts'
import { ApprovalsNote } from '../session/ApprovalsNote.tsx'
import { useReauthenticatedDialog } from '../session/session.ts'
import { memberContext } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'
import { Card } from '../../../components/ui/Card.tsx'

type Props = { organization: OwnOrganization; onDeleted: () => void }

export function DeleteOrganization({ organization, onDeleted }: Props) {
  const words = useBusinessMessages().deletion
  const doing = useActions()
  const question = useReauthenticatedDialog('delete')
  const endBy = async (how: SignedAction) => {
    const given = { ...memberContext(organization), body: null }
    // An organization that is not found may be suspended, and not deleted: the error says so.
    await how('DELETE /api/organizations/:organizationId', given)
    onDeleted()
  }
  const end: Action = {
    name: 'end-organization',
    label: words.title,
    look: 'danger-quiet',
    icon: 'trash',
    do: () => signedOrUnsigned(endBy, question.open),
  }
  return (
    <Card title={words.title} danger>
      <p>{words.what}</p>
      <ApprovalsNote organization={organization} />
      <Actions of={[end]} doing={doing} />
      {question.isOpen && (
        <Confirmation name={organization.name} onAgreed={() => endBy(act)} onClose={question.close} />
      )}
    </Card>
  )
}

type ConfirmationProps = { name: string; onAgreed: () => Promise<void>; onClose: () => void }

/** Asks a member who does not sign for confirmation. They type the name, so that no one confirms by habit. */
function Confirmation({ name, onAgreed, onClose }: ConfirmationProps) {
  const words = useBusinessMessages().deletion
  const { frame } = useMessages()
  const doing = useActions()
  const [typed, setTyped] = useState('')
  const [checked, setChecked] = useState(false)
  const matches = typed.trim() === name.trim()
  const remove: Action = {
    name: 'delete-organization',
    label: words.now,
    look: 'danger',
    do: async () => {
      setChecked(true)
      if (matches) await onAgreed()
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'secondary', do: onClose }
  return (
    <Dialog title={words.confirm(name)} onClose={onClose}>
      <p>{words.forever}</p>
      <ActionForm submit={remove} others={[cancel]} doing={doing}>
        <Field
          name="confirmation"
          label={words.typeName(name)}
          value={typed}
          onInput={setTyped}
          problem={checked && !matches ? words.mismatch : undefined}
          exact
        />
      </ActionForm>
    </Dialog>
  )
}
