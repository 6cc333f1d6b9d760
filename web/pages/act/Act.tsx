import { useEffect } from 'preact/hooks'
import type { StopReason } from '../../lib/acts/act.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { type Action, type ActionState, useActions } from '../../components/form/use-actions.ts'
import { CopyableFields } from '../../components/display/Copies.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { RecoveryCodeForm } from '../../components/unlock/EnterCode.tsx'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/signature/sign-words.ts'
import { Loading } from '../../components/signature/Loading.tsx'
import { type ActFlow, useFlow } from './flow.ts'
import type { OneTimeResult } from './steps.ts'
import { useActMessages } from './words.ts'

/** Lets members sign actions in an organization. Their keys can only be unlocked on the host of their passkeys. */
export function SignActionPage() {
  const words = useActMessages()
  const doing = useActions()
  const flow = useFlow()
  useEffect(() => void doing.perform({ name: 'look', do: flow.look }), [])
  return (
    <PageLayout title={words.title} step={flow.step.at} wide where={flow.step.at === 'decide'}>
      <section class="step">
        {flow.display ? (
          <flow.display.WithErrors>
            <CurrentStep flow={flow} doing={doing} />
          </flow.display.WithErrors>
        ) : (
          <CurrentStep flow={flow} doing={doing} />
        )}
      </section>
    </PageLayout>
  )
}

type Props = { flow: ActFlow; doing: ActionState }

function CurrentStep({ flow, doing }: Props) {
  const words = useActMessages()
  const { sign, frame } = useMessages()
  const { step, owner } = flow
  const back: Action = { name: 'back', label: words.back, look: 'quiet', do: () => flow.leave('declined') }
  switch (step.at) {
    case 'look':
      if (doing.problem === undefined) return <Loading />
      return <Actions of={[{ name: 'retry', label: frame.retry, do: flow.look }, back]} doing={doing} />
    case 'leave':
      return <Loading />
    case 'authenticate':
      return (
        <>
          <StepHeading>{sign.whoAreYou}</StepHeading>
          <p>{words.whoAreYouWhy}</p>
          <Authenticate doing={doing} others={[back]} onSignedIn={flow.signedIn} />
        </>
      )
    case 'unknown':
      return (
        <>
          <StepHeading>{step.isNewSession ? words.sessionEnded : words.nothing}</StepHeading>
          <p>{step.isNewSession ? words.sessionEndedWhy : words.nothingWhy}</p>
          <Actions of={[{ ...back, look: 'primary', do: () => flow.leave('ended') }]} doing={doing} />
        </>
      )
    case 'decide':
      return flow.display ? <flow.display.Decide flow={flow} question={step.question} doing={doing} /> : <Loading />
    case 'enter code':
      return owner === undefined ? null : (
        <>
          <h1>{words.title}</h1>
          <RecoveryCodeForm
            keyWraps={step.keyWraps}
            userId={owner.user.userId}
            doing={doing}
            why={words.codeWhy}
            label={words.sign}
            onOpened={(masterKey) => flow.signWith(masterKey, step.confirmed)}
            onCancel={() => flow.turnBack(step.question)}
          />
        </>
      )
    case 'stopped':
      return <Stopped why={step.why} flow={flow} doing={doing} />
    case 'result':
      return <Result shown={step.shown} flow={flow} doing={doing} />
  }
}

/** Says why nothing was signed or done. The member starts again where they began. */
function Stopped({ why, flow, doing }: Props & { why: StopReason }) {
  const words = useActMessages()
  const again: Action = { name: 'start-over', label: words.again, do: () => flow.leave('ended') }
  return (
    <>
      <StepHeading>{words.stopped}</StepHeading>
      <p role="alert" data-stopped={why}>
        {words.stoppedWhy[why]}
      </p>
      <Actions of={[again]} doing={doing} />
    </>
  )
}

/** Shows what the service answers once, here: an address that contained it would stay in the browser's history. */
function Result({ shown: { action, values }, flow, doing }: Props & { shown: OneTimeResult }) {
  const words = useActMessages()
  const { title, what } = words.results[action]
  const done: Action = { name: 'result-saved', label: words.done, do: () => flow.leave('done') }
  return (
    <>
      <StepHeading>{title}</StepHeading>
      <p>{what}</p>
      <CopyableFields
        of={values.map(({ name, value }) => ({ label: words.values[name], value, action: `copy-${name}` }))}
      />
      <Actions of={[done]} doing={doing} />
    </>
  )
}
