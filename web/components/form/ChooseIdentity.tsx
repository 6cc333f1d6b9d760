import type { Identity } from '@countersign/protocol/accounts/identities'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { emptyDraft, isComplete, isHandleRefused } from '../../lib/text/identity-draft.ts'
import { ActionForm, Actions } from './Actions.tsx'
import type { Action, ActionState } from './use-actions.ts'
import { IdentityFields } from './Field.tsx'
import { useConsentMessages } from './consent-words.ts'
import { StepHeading } from '../frame/Frame.tsx'
import { Avatar, Person } from '../ui/Avatar.tsx'
import { Chip } from '../ui/Chip.tsx'
import { Icon } from '../ui/Icon.tsx'
import { atHandle } from '../../lib/text/handle.ts'

type NewIdentity = { handle: string; displayName: string }

type Props = {
  identities: Identity[]
  mismatch: boolean
  /** The identity that the user has used last in this app: it comes first. */
  lastId?: string | undefined
  doing: ActionState
  onChoose: (identity: Identity) => Promise<void>
  /** Creates an identity and continues as it. Undefined if the user cannot. */
  onAdd?: ((identity: NewIdentity) => Promise<void>) | undefined
  /** The actions that end the choice: another account, back to the consent, back to the app. */
  others: Action[]
}

export function ChooseIdentity({ identities, mismatch, lastId, doing, onChoose, onAdd, others }: Props) {
  const words = useConsentMessages().signin
  const [isAdding, setIsAdding] = useState(false)
  if (isAdding && onAdd) return <AddIdentity doing={doing} onAdd={onAdd} onBack={() => setIsAdding(false)} />
  const isLast = ({ identityId }: Identity) => identityId === lastId
  const inOrder = [...identities.filter(isLast), ...identities.filter((identity) => !isLast(identity))]
  const add: Action[] = onAdd
    ? [
        {
          name: 'add-identity',
          label: words.addIdentity,
          look: 'secondary',
          icon: 'plus',
          do: () => setIsAdding(true),
        },
      ]
    : []
  return (
    <section class="stack loose">
      <StepHeading level={2}>{words.choose}</StepHeading>
      {mismatch && <p>{words.noSuchIdentity}</p>}
      <ul class="stack">
        {inOrder.map((identity) => (
          <li key={identity.identityId}>
            <Choice identity={identity} doing={doing} onChoose={onChoose}>
              {isLast(identity) && <Chip tone="pen">{words.lastUsed}</Chip>}
            </Choice>
          </li>
        ))}
      </ul>
      <Actions of={[...add, ...others]} doing={doing} />
    </section>
  )
}

type ChoiceProps = { identity: Identity; children?: ComponentChildren } & Pick<Props, 'doing' | 'onChoose'>

export function Choice({ identity, doing, onChoose, children }: ChoiceProps) {
  const { identityId, displayName, handle, avatarUrl } = identity
  return (
    <ChoiceButton
      hook={{ 'data-action': 'choose-identity', 'data-identity-id': identityId }}
      avatar={<Avatar name={displayName} toneOf={handle} picture={avatarUrl} />}
      name={displayName}
      detail={atHandle(handle)}
      doing={doing}
      onChoose={() => onChoose(identity)}
    >
      {children}
    </ChoiceButton>
  )
}

type ChoiceButtonProps = {
  /** The hooks for automation. */
  hook: { 'data-action': string; 'data-identity-id'?: string; 'data-organization-id'?: string }
  avatar: ComponentChildren
  name: string
  detail: ComponentChildren
  doing: ActionState
  onChoose: () => Promise<void>
  /** Stands at the end, such as a chip. */
  children?: ComponentChildren
}

/** One of several people or organizations, as which the user can continue. */
export function ChoiceButton({ hook, avatar, name, detail, doing, onChoose, children }: ChoiceButtonProps) {
  const action = hook['data-action']
  return (
    <button
      type="button"
      class="continue"
      {...hook}
      aria-disabled={doing.current !== undefined}
      onClick={() => void doing.perform({ name: action, do: onChoose })}
    >
      <Person avatar={avatar} name={name} detail={detail} />
      {children || <Icon name="chevron-right" class="flips" />}
    </button>
  )
}

type AddProps = { doing: ActionState; onAdd: (identity: NewIdentity) => Promise<void>; onBack: () => void }

/** Adds an identity without leaving the sign-in. */
function AddIdentity({ doing, onAdd, onBack }: AddProps) {
  const words = useConsentMessages().signin
  const [draft, setDraft] = useState(emptyDraft)
  const [checked, setChecked] = useState(false)
  const add: Action = {
    name: 'create-identity',
    label: words.addAndContinue,
    do: async () => {
      setChecked(true)
      if (!isComplete(draft)) return
      const { handle, displayName } = draft
      await onAdd({ handle, displayName }).catch((error: unknown) => {
        if (!isHandleRefused(error)) throw error
        setDraft({ ...draft, taken: [...draft.taken, handle] })
      })
    },
  }
  const back: Action = { name: 'back', label: words.back, look: 'ghost', do: onBack }
  return (
    <section class="stack loose">
      <div class="stack tight">
        <StepHeading level={2}>{words.addIdentity}</StepHeading>
        <p class="lead">{words.addIdentityLead}</p>
      </div>
      <ActionForm submit={add} others={[back]} doing={doing}>
        <IdentityFields draft={draft} checked={checked} onChange={setDraft} isNew />
      </ActionForm>
    </section>
  )
}
