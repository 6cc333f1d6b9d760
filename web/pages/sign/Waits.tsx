import { Actions } from '../../components/form/Actions.tsx'
import type { Doing } from '../../components/form/doing.ts'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import type { useFlow } from './flow.ts'
import { Progress } from './Progress.tsx'
import type { Step } from './steps.ts'

type Props = { flow: ReturnType<typeof useFlow>; step: Extract<Step, { at: 'wait' }>; doing: Doing }

/** A member has done their part, and the organization waits for others. They may still deny. */
export function Waits({ flow, step: { organization }, doing }: Props) {
  const { sign: words } = useWords()
  return (
    <section class="step ended">
      <StepHeading>{words.ofOrganization.done[organization.answered ?? 'sign']}</StepHeading>
      <p>{words.ofOrganization.waitsFor(organization.name)}</p>
      <Progress organization={organization} />
      {parent === self && <p class="lead">{words.closeThis}</p>}
      <Actions
        of={[{ name: 'deny', label: words.ofOrganization.denyAfterAll, look: 'quiet', do: flow.deny }]}
        doing={doing}
      />
    </section>
  )
}
