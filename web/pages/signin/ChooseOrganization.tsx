import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OrganizationChoice } from '@countersign/protocol/organizations/organizations'
import { ActionButton, Actions } from '../../components/form/Actions.tsx'
import type { ActionState } from '../../components/form/use-actions.ts'
import { useMessages } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'
import type { Grant } from './steps.ts'

type Props = {
  identity: Identity
  read: Grant
  mismatch: boolean
  doing: ActionState
  /** Called with undefined if users act as themselves. */
  onChoose: (organization: OrganizationChoice | undefined) => Promise<void>
  onDeny: () => Promise<void>
}

/** Asks for which organization the user uses the app, or as themselves. */
export function ChooseOrganization({
  identity,
  read: { organizations = [] },
  mismatch,
  doing,
  onChoose,
  onDeny,
}: Props) {
  const { signin: words, frame } = useMessages()
  const choose = (organization: OrganizationChoice | undefined) => () => onChoose(organization)
  return (
    <>
      <StepHeading level={2}>{words.chooseOrganization}</StepHeading>
      {mismatch && <p>{words.noSuchOrganization(identity.handle)}</p>}
      <ul class="choices">
        {organizations.map((organization) => (
          <li key={organization.id}>
            <Choice
              id={organization.id}
              name={organization.name}
              below={organization.loginUrl === undefined ? words.asMember(identity.handle) : words.signInThereFirst}
              doing={doing}
              onChoose={choose(organization)}
            />
          </li>
        ))}
        <li>
          <Choice name={words.yourself} below={`@${identity.handle}`} doing={doing} onChoose={choose(undefined)} />
        </li>
      </ul>
      <Actions of={[{ name: 'deny', label: frame.cancel, look: 'quiet', do: onDeny }]} doing={doing} />
    </>
  )
}

type ChoiceProps = { id?: string; name: string; below: string; doing: ActionState; onChoose: () => Promise<void> }

function Choice({ id, name, below, doing, onChoose }: ChoiceProps) {
  const choose = {
    name: 'choose-organization',
    label: name,
    look: 'choice' as const,
    ...(id !== undefined && { organizationId: id }),
    do: onChoose,
  }
  return (
    <ActionButton action={choose} doing={doing}>
      <span class="choice-name">{name}</span>
      <span class="choice-handle">{below}</span>
      <span class="choice-arrow" aria-hidden="true">
        →
      </span>
    </ActionButton>
  )
}
