import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OrganizationChoice } from '@countersign/protocol/organizations/organizations'
import { Actions } from '../../components/form/Actions.tsx'
import { ChoiceButton } from '../../components/form/ChooseIdentity.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { useConsentMessages } from '../../components/form/consent-words.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { Avatar } from '../../components/ui/Avatar.tsx'
import type { Grant } from './steps.ts'
import { atHandle } from '../../lib/text/handle.ts'

type Props = {
  identity: Identity
  read: Grant
  mismatch: boolean
  doing: ActionState
  /** Called with undefined if users act as themselves. */
  onChoose: (organization: OrganizationChoice | undefined) => Promise<void>
  /** The action that ends the choice: back to where the user came from, or to the app. */
  end: Action
}

/** Asks for which organization the user uses the app, or as themselves. */
export function ChooseOrganization({ identity, read: { organizations = [] }, mismatch, doing, onChoose, end }: Props) {
  const words = useConsentMessages().signin
  return (
    <section class="stack loose">
      <StepHeading level={2}>{words.chooseOrganization}</StepHeading>
      {mismatch && <p>{words.noSuchOrganization(identity.handle)}</p>}
      <ul class="stack">
        {organizations.map((organization) => (
          <li key={organization.id}>
            <ChoiceButton
              hook={{ 'data-action': 'choose-organization', 'data-organization-id': organization.id }}
              avatar={<Avatar name={organization.name} toneOf={organization.id} kind="organization" />}
              name={organization.name}
              detail={organization.loginUrl === undefined ? words.asMember(identity.handle) : words.signInThereFirst}
              doing={doing}
              onChoose={() => onChoose(organization)}
            />
          </li>
        ))}
        <li>
          <ChoiceButton
            hook={{ 'data-action': 'choose-organization' }}
            avatar={<Avatar name={identity.displayName} toneOf={identity.handle} picture={identity.avatarUrl} />}
            name={words.yourself}
            detail={atHandle(identity.handle)}
            doing={doing}
            onChoose={() => onChoose(undefined)}
          />
        </li>
      </ul>
      <Actions of={[end]} doing={doing} />
    </section>
  )
}
