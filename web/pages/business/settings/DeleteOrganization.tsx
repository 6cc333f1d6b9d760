import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { Refused } from '../../../lib/call.ts'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Field } from '../../../components/form/Field.tsx'
import { useWords } from '../../../components/frame/Root.tsx'
import { act, signedOr, type Act } from '../session/acts.ts'
import { useGuardedQuestion } from '../session/asking.ts'
import { asMember } from '../session/memberships.ts'
import { useBusinessWords } from '../words.ts'

type Props = { organization: OwnOrganization; onDeleted: () => void }

export function DeleteOrganization({ organization, onDeleted }: Props) {
  const words = useBusinessWords().deletion
  const doing = useDoing()
  const question = useGuardedQuestion('delete')
  const endBy = async (how: Act) => {
    const given = { ...asMember(organization), body: null }
    await how('DELETE /api/organizations/:organizationId', given).catch(acceptGone)
    onDeleted()
  }
  const end: Action = {
    name: 'end-organization',
    label: words.title,
    look: 'secondary',
    do: () => signedOr(endBy, question.ask),
  }
  return (
    <section class="apart">
      <h2>{words.title}</h2>
      <p>{words.what}</p>
      <Actions of={[end]} doing={doing} />
      {question.asked && <Confirmation name={organization.name} onAgreed={() => endBy(act)} onClose={question.close} />}
    </section>
  )
}

type ConfirmationProps = { name: string; onAgreed: () => Promise<void>; onClose: () => void }

/** The last question to whoever does not sign it. The name is written, so that nobody says yes by habit. */
function Confirmation({ name, onAgreed, onClose }: ConfirmationProps) {
  const words = useBusinessWords().deletion
  const { frame } = useWords()
  const doing = useDoing()
  const [typed, setTyped] = useState('')
  const [checked, setChecked] = useState(false)
  const matches = typed.trim() === name.trim()
  const remove: Action = {
    name: 'delete-organization',
    label: words.now,
    do: async () => {
      setChecked(true)
      if (matches) await onAgreed()
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }
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

/** Deleted already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'organization_not_found')) throw error
}
