import { useEffect } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { whenSeenAgain } from '../../lib/coming-back.ts'
import { useDoing, type Doing } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { Waiting } from '../../components/display/Waiting.tsx'
import { readView } from '../../lib/view.ts'
import { Decide } from './Decide.tsx'
import { Ended } from './Ended.tsx'
import { useFlow } from './flow.ts'
import { InAWindow } from './InAWindow.tsx'
import { SignInThere } from './SignInThere.tsx'
import { Waits } from './Waits.tsx'

export function Sign() {
  const words = useWords().sign
  const view = readView('sign')
  const framed = view.embedded && parent !== self
  const doing = useDoing()
  const flow = useFlow(view, framed)
  useEffect(() => void doing.perform({ name: 'look', do: flow.look }), [])
  useEffect(() => whenSeenAgain(flow.look), [])
  return (
    <Frame title={words.title} step={flow.step.at} bare={view.embedded}>
      <CurrentStep flow={flow} doing={doing} framed={framed} />
    </Frame>
  )
}

type Props = { flow: ReturnType<typeof useFlow>; doing: Doing; framed: boolean }

function CurrentStep({ flow, doing, framed }: Props) {
  const { sign: words, account, signin } = useWords()
  const { step } = flow
  switch (step.at) {
    case 'look': {
      if (doing.problem === undefined) return <Waiting />
      return <Actions of={[{ name: 'retry', label: account.retry, do: flow.look }]} doing={doing} />
    }
    case 'authenticate':
      return (
        <section class="step">
          <StepHeading>{words.whoAreYou}</StepHeading>
          <p>{words.whoAreYouWhy}</p>
          <Authenticate doing={doing} onSignedIn={flow.signedIn} />
        </section>
      )
    case 'open window':
      return <InAWindow doing={doing} onAnswered={flow.advance} />
    case 'unknown':
      return (
        <section class="step">
          <StepHeading>{words.unknownTitle}</StepHeading>
          <p>{words.unknownWhy}</p>
          <Actions
            of={[{ name: 'sign-out', label: signin.otherAccount, look: 'secondary', do: flow.useAnotherAccount }]}
            doing={doing}
          />
        </section>
      )
    case 'sign in there':
      return <SignInThere place={step.place} doing={doing} />
    case 'decide':
    case 'enter code':
      return <Decide flow={flow} step={step} doing={doing} framed={framed} />
    case 'wait':
      return <Waits flow={flow} step={step} doing={doing} />
    case 'end':
      return <Ended end={step.end} signedIn={flow.owner !== undefined} doing={doing} />
  }
}
