import type { Identity } from '@countersign/protocol/accounts/identities'
import { ActionButton, Actions } from './Actions.tsx'
import type { ActionState } from './use-actions.ts'
import { useMessages } from '../frame/Root.tsx'
import { StepHeading } from '../frame/Frame.tsx'

type Props = {
  identities: Identity[]
  mismatch: boolean
  doing: ActionState
  onChoose: (identity: Identity) => Promise<void>
  /** Undefined if only the signed-in user can continue. */
  onOther: (() => Promise<void>) | undefined
  onDeny: () => Promise<void>
}

export function ChooseIdentity({ identities, mismatch, doing, onChoose, onOther, onDeny }: Props) {
  const { signin: words, frame } = useMessages()
  return (
    <>
      <StepHeading level={2}>{words.choose}</StepHeading>
      {mismatch && <p>{words.noSuchIdentity}</p>}
      <ul class="choices">
        {identities.map((identity) => (
          <li key={identity.identityId}>
            <Choice identity={identity} doing={doing} onChoose={onChoose} />
          </li>
        ))}
      </ul>
      <Actions
        of={[
          ...(onOther ? [{ name: 'sign-out', label: words.otherAccount, look: 'quiet', do: onOther } as const] : []),
          { name: 'deny', label: frame.cancel, look: 'quiet', do: onDeny },
        ]}
        doing={doing}
      />
    </>
  )
}

export function Choice({ identity, doing, onChoose }: { identity: Identity } & Pick<Props, 'doing' | 'onChoose'>) {
  const { identityId, displayName, handle } = identity
  const choose = {
    name: 'choose-identity',
    label: displayName,
    look: 'choice' as const,
    identityId,
    do: () => onChoose(identity),
  }
  return (
    <ActionButton action={choose} doing={doing}>
      <span class="choice-name">{displayName}</span>
      <span class="choice-handle">@{handle}</span>
      <span class="choice-arrow" aria-hidden="true">
        →
      </span>
    </ActionButton>
  )
}
