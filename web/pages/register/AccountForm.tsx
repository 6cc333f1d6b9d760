import { useState } from 'preact/hooks'
import type { IdentityDraft } from '../../lib/text/identity-draft.ts'
import { withReturnUrl } from '../../lib/navigation.ts'
import type { Session } from '../../lib/session/session.ts'
import { ActionForm, Actions } from '../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { useMessages } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { Avatar, Person } from '../../components/ui/Avatar.tsx'
import { UnsupportedNote } from '../../components/unlock/Unsupported.tsx'
import { ChosenLead, NewNames } from './NewNames.tsx'
import type { Outcome } from './steps.ts'
import { atHandle } from '../../lib/text/handle.ts'

type AccountFormProps = {
  draft: IdentityDraft
  onChange: (draft: IdentityDraft) => void
  returnTo: string
  doing: ActionState
  onCreate: () => Promise<void>
  /** Given to an invited user: signs in on this page. */
  onSignIn: (() => Promise<void>) | undefined
}

export function AccountForm({ draft, onChange, returnTo, doing, onCreate, onSignIn }: AccountFormProps) {
  const words = useMessages().register
  const [checked, setChecked] = useState(false)
  const create: Action = {
    name: 'create-account',
    label: words.create,
    icon: 'fingerprint-pattern',
    do: () => {
      setChecked(true)
      return onCreate()
    },
  }
  return (
    <section class="stack loose">
      <div class="stack tight">
        <h1>{words.title}</h1>
        {draft.isFixed ? <ChosenLead /> : <p class="lead">{words.lead}</p>}
      </div>
      <UnsupportedNote />
      <ActionForm submit={create} doing={doing}>
        <NewNames draft={draft} checked={checked} onChange={onChange} takesFocus />
      </ActionForm>
      <HaveAccount returnTo={returnTo} doing={doing} onSignIn={onSignIn} />
    </section>
  )
}

/** The way for a user who has an account. */
export function HaveAccount({ returnTo, doing, onSignIn }: Pick<AccountFormProps, 'returnTo' | 'doing' | 'onSignIn'>) {
  const words = useMessages().register
  return (
    <p class="otherwise">
      {words.haveAccount}{' '}
      {onSignIn ? (
        <button
          type="button"
          class="link"
          data-action="sign-in-here"
          onClick={() => void doing.perform({ name: 'sign-in-here', do: onSignIn })}
        >
          {words.login}
        </button>
      ) : (
        <a href={withReturnUrl('/login', returnTo)}>{words.login}</a>
      )}
    </p>
  )
}

type AlreadySignedInProps = {
  session: Session
  doing: ActionState
  onContinue: () => void
  onSignOut: () => Promise<void>
}

/** Shown to a user who is signed in: most of them do not want a second account. */
export function AlreadySignedIn({ session, doing, onContinue, onSignOut }: AlreadySignedInProps) {
  const words = useMessages().register
  const [identity] = session.identities
  if (!identity) return null
  const { displayName, handle, avatarUrl } = identity
  const actions: Action[] = [
    { name: 'continue', label: words.continueAs(displayName), do: onContinue },
    { name: 'sign-out', label: words.createAnother, look: 'secondary', do: onSignOut },
  ]
  return (
    <section class="stack loose">
      <div class="stack tight">
        <StepHeading>{words.presentTitle}</StepHeading>
        <p class="lead">{words.presentLead}</p>
      </div>
      <Person
        avatar={<Avatar name={displayName} toneOf={handle} picture={avatarUrl} />}
        name={displayName}
        detail={atHandle(handle)}
      />
      <Actions of={actions} doing={doing} />
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
          { ...startOver, look: 'ghost' },
        ]
  return (
    <section class="stack loose">
      <div class="stack tight">
        <StepHeading>{words.unfinished}</StepHeading>
        <p class="lead">{words.unfinishedLead}</p>
      </div>
      <Actions of={actions} doing={doing} />
    </section>
  )
}
