import { useEffect } from 'preact/hooks'
import { returnAddress } from '../../lib/return-address.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useDoing, type Doing } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { askBeforeLeaving } from '../../lib/leaving.ts'
import { RecoveryCode } from '../../components/unlock/RecoveryCode.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { TouchAgain } from '../../components/unlock/TouchAgain.tsx'
import { readSite } from '../../lib/view.ts'
import { preloadVault, useFlow } from './flow.ts'
import { Identify } from './Identify.tsx'

/** The way back in for those who have lost their passkeys. */
export function Recover() {
  const flow = useFlow()
  const returnTo = returnAddress(location.search, readSite())
  useEffect(preloadVault, [])
  useEffect(() => {
    if (flow.step.at === 'leave') location.replace(returnTo)
  }, [flow.step.at, returnTo])
  const holdsCode = flow.step.at === 'save code'
  useEffect(() => (holdsCode ? askBeforeLeaving() : undefined), [holdsCode])
  return (
    <Frame title={useWords().recover.title}>
      <CurrentStep flow={flow} doing={useDoing()} returnTo={returnTo} />
    </Frame>
  )
}

type Props = { flow: ReturnType<typeof useFlow>; doing: Doing; returnTo: string }

function CurrentStep({ flow, doing, returnTo }: Props) {
  const words = useWords()
  const { step } = flow
  switch (step.at) {
    case 'identify':
      return <Identify doing={doing} onBegin={flow.begin} />
    case 'touch again':
      return (
        <TouchAgain
          doing={doing}
          onTouch={() => flow.touchAgain(step.made)}
          onGoWithout={() => flow.finish(step.made, undefined)}
        />
      )
    case 'finish': {
      const finish = () => flow.finish(step.made, step.prfOutput)
      return (
        <section class="step">
          <StepHeading>{words.register.unfinished}</StepHeading>
          <Actions of={[{ name: 'finish', label: words.register.finish, do: finish }]} doing={doing} />
        </section>
      )
    }
    case 'unopened': {
      const goOn = () => location.replace(returnTo)
      return (
        <section class="step">
          <StepHeading>{words.recover.title}</StepHeading>
          <p>{words.recover.unopened}</p>
          <Actions of={[{ name: 'go-on', label: words.recover.goOn, do: goOn }]} doing={doing} />
        </section>
      )
    }
    case 'save code':
      return (
        <RecoveryCode
          code={step.recoveryCode}
          handle={flow.handle()}
          opensKeys={step.opensKeys}
          doing={doing}
          onSaved={() => flow.putInForce(step.replacement)}
        />
      )
    case 'leave':
      return null
  }
}
