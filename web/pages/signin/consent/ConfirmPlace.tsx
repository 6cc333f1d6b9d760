import type { SignInView } from '@countersign/protocol/pages'
import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/frame/Root.tsx'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { redirectTargetLabel } from '../../../lib/navigation.ts'
import type { useFlow } from '../flow.ts'
import type { Step } from '../steps.ts'

type Props = {
  flow: ReturnType<typeof useFlow>
  step: Extract<Step, { at: 'confirm place' }>
  view: SignInView
  doing: ActionState
}

/** Asks whether the app may receive its key at an address where it never has, and shows both. */
export function ConfirmPlace({ flow, step, view, doing }: Props) {
  const { place: words } = useMessages().signin
  const { before, now } = step.place
  const name = view.unverified?.host ?? view.app.name
  const actions: Action[] = [
    { name: 'deny', label: words.deny, do: flow.deny },
    { name: 'confirm-place', label: words.confirm(redirectTargetLabel(now)), look: 'quiet', do: flow.confirmPlace },
  ]
  return (
    <>
      <StepHeading level={2}>{words.title}</StepHeading>
      <p>{words.before(name)}</p>
      <Places of={before} />
      <p>{words.now(name)}</p>
      <Places of={[now]} />
      <p class="problem">{words.warning(name)}</p>
      <Actions of={actions} doing={doing} />
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
