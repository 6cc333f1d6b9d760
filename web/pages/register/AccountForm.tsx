import { useState } from 'preact/hooks'
import type { IdentityDraft } from '../../lib/text/identity-draft.ts'
import { withReturnUrl } from '../../lib/navigation.ts'
import { ActionForm, Actions } from '../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { IdentityFields } from '../../components/form/Field.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'
import type { Outcome } from './steps.ts'

type AccountFormProps = {
  draft: IdentityDraft
  onChange: (draft: IdentityDraft) => void
  returnTo: string
  doing: ActionState
  onCreate: () => Promise<void>
}

export function AccountForm({ draft, onChange, returnTo, doing, onCreate }: AccountFormProps) {
  const words = useMessages().register
  const [checked, setChecked] = useState(false)
  const create: Action = {
    name: 'create-account',
    label: words.create,
    do: () => {
      setChecked(true)
      return onCreate()
    },
  }
  return (
    <section class="step">
      <h1>{words.title}</h1>
      <p class="lead">{words.lead}</p>
      <ActionForm submit={create} doing={doing}>
        <IdentityFields draft={draft} checked={checked} onChange={onChange} />
      </ActionForm>
      <p class="otherwise">
        {words.haveAccount} <a href={withReturnUrl('/login', returnTo)}>{words.login}</a>
      </p>
    </section>
  )
}

type FinishRegistrationProps = {
  outcome: Outcome
  doing: ActionState
  onFinish: () => Promise<void>
  onStartOver: () => Promise<void>
}

/** Shown only after the last request failed. */
export function FinishRegistration({ outcome, doing, onFinish, onStartOver }: FinishRegistrationProps) {
  const words = useMessages().register
  const startOver: Action = { name: 'start-over', label: words.startOver, do: onStartOver }
  const actions: Action[] =
    outcome === 'refused'
      ? [startOver]
      : [
          { name: 'finish', label: words.finish, do: onFinish },
          { ...startOver, look: 'quiet' },
        ]
  return (
    <section class="step">
      <StepHeading>{words.unfinished}</StepHeading>
      <Actions of={actions} doing={doing} />
    </section>
  )
}
