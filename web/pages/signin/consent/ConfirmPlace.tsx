import type { SignInView } from '@countersign/protocol/pages'
import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../../components/form/use-actions.ts'
import { useConsentMessages } from '../../../components/form/consent-words.ts'
import { Note } from '../../../components/ui/Chip.tsx'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { redirectTargetLabel } from '../../../lib/navigation.ts'
import type { useFlow } from '../flow.ts'
import type { Step } from '../steps.ts'
import type { NewPlace } from './delivery.ts'

type Props = {
  flow: ReturnType<typeof useFlow>
  step: Extract<Step, { at: 'confirm place' }>
  view: SignInView
  doing: ActionState
}

/**
 * Asks whether the app may receive its key at an address where it never has, or bound to another server.
 * Shows both.
 */
export function ConfirmPlace({ flow, step, view, doing }: Props) {
  const { place: words } = useConsentMessages().signin
  const { redirect, recipient } = step.place
  const name = view.unverified?.host ?? view.app.name
  const confirm = redirect ? words.confirm(redirectTargetLabel(redirect.now)) : words.confirmRecipient
  const other = recipient?.now === null ? words.releaseWarning : words.recipientWarning
  const warning = redirect ? words.warning : other
  const actions: Action[] = [
    { name: 'deny', label: words.deny, do: flow.deny },
    { name: 'confirm-place', label: confirm, look: 'secondary', do: flow.confirmPlace },
  ]
  return (
    <section class="stack">
      <StepHeading level={2}>{redirect ? words.title : words.recipientTitle}</StepHeading>
      {redirect && (
        <>
          <p>{words.before(name)}</p>
          <Places of={redirect.before} />
          <p>{words.now(name)}</p>
          <Places of={[redirect.now]} />
        </>
      )}
      {recipient && <Recipient name={name} of={recipient} />}
      <Note tone="bad">{warning(name)}</Note>
      <Actions of={actions} doing={doing} />
    </section>
  )
}

/** Shows which server's key the app key is bound to, and which it would be. */
function Recipient({ name, of: { before, now } }: { name: string; of: NonNullable<NewPlace['recipient']> }) {
  const { place: words } = useConsentMessages().signin
  return (
    <>
      {before !== null && (
        <p>
          {words.boundTo(name)} <code>{before}</code>
        </p>
      )}
      {now === null ? (
        <p>{words.unbinds(name)}</p>
      ) : (
        <p>
          {words.binds(name)} <code>{now}</code>
        </p>
      )}
    </>
  )
}

function Places({ of }: { of: string[] }) {
  return (
    <ul class="places">
      {of.map((place) => (
        <li key={place}>
          <strong>
            <bdi>{redirectTargetLabel(place)}</bdi>
          </strong>
          <code>{place}</code>
        </li>
      ))}
    </ul>
  )
}
