import { useEffect } from 'preact/hooks'
import { returnAddress } from '../../lib/return-address.ts'
import { useDoing, type Doing } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { askBeforeLeaving } from '../../lib/leaving.ts'
import { RecoveryCode } from '../../components/unlock/RecoveryCode.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { TouchAgain } from '../../components/unlock/TouchAgain.tsx'
import { readSite } from '../../lib/view.ts'
import { Describe } from './Describe.tsx'
import { Finish } from './Finish.tsx'
import { preloadVault, useFlow } from './flow.ts'
import { readIntroduction } from './introduction.ts'

export function Register() {
  const flow = useFlow()
  const returnTo = returnAddress(location.search, readSite())
  useEffect(preloadVault, [])
  useEffect(() => void introduce(), [])
  useEffect(() => {
    if (flow.step.at === 'leave') location.replace(returnTo)
  }, [flow.step.at, returnTo])
  async function introduce() {
    const introduction = await readIntroduction(returnTo)
    if (introduction) flow.introduce(introduction)
  }
  const holdsOnlyKey = flow.step.at === 'save code' && !flow.step.opensKeys
  useEffect(() => (holdsOnlyKey ? askBeforeLeaving() : undefined), [holdsOnlyKey])
  return (
    <Frame title={useWords().register.title}>
      <CurrentStep flow={flow} doing={useDoing()} returnTo={returnTo} />
    </Frame>
  )
}

type Props = { flow: ReturnType<typeof useFlow>; doing: Doing; returnTo: string }

function CurrentStep({ flow, doing, returnTo }: Props) {
  const { step, draft } = flow
  switch (step.at) {
    case 'describe':
      return (
        <Describe
          draft={draft}
          onChange={flow.setDraft}
          returnTo={returnTo}
          doing={doing}
          onCreate={flow.createAccount}
        />
      )
    case 'touch again':
      return (
        <TouchAgain
          doing={doing}
          onTouch={() => flow.touchAgain(step.made)}
          onGoWithout={() => flow.goWithout(step.made)}
        />
      )
    case 'finish':
      return (
        <Finish
          outcome={step.outcome}
          doing={doing}
          onFinish={() => flow.finish(step.made, step.prepared)}
          onStartOver={() => flow.startOver(step.made)}
        />
      )
    case 'save code':
      return (
        <RecoveryCode
          code={step.recoveryCode}
          handle={draft.handle}
          opensKeys={step.opensKeys}
          doing={doing}
          onSaved={() => flow.advance({ type: 'code saved' })}
        />
      )
    case 'leave':
      return null
  }
}
