import { useEffect } from 'preact/hooks'
import { confirmBeforeUnload, returnUrl } from '../../lib/navigation.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { type ActionState, useActions } from '../../components/form/use-actions.ts'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { ConfirmPasskeyAgain, RecoveryCode } from '../../components/unlock/RecoveryCode.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { readSiteSettings } from '../../lib/page-data.ts'
import { preloadVault, useFlow } from './flow.ts'
import { RecoveryForm } from './Identify.tsx'

/** Restores access for users who have lost their passkeys. */
export function Recover() {
  const flow = useFlow()
  const returnTo = returnUrl(location.search, readSiteSettings())
  useEffect(preloadVault, [])
  useEffect(() => {
    if (flow.step.at === 'leave') location.replace(returnTo)
  }, [flow.step.at, returnTo])
  const holdsCode = flow.step.at === 'save code'
  useEffect(() => (holdsCode ? confirmBeforeUnload() : undefined), [holdsCode])
  return (
    <PageLayout title={useMessages().recover.title}>
      <CurrentStep flow={flow} doing={useActions()} returnTo={returnTo} />
    </PageLayout>
  )
}

type Props = { flow: ReturnType<typeof useFlow>; doing: ActionState; returnTo: string }

function CurrentStep({ flow, doing, returnTo }: Props) {
  const words = useMessages()
  const { step } = flow
  switch (step.at) {
    case 'identify':
      return <RecoveryForm doing={doing} onBegin={flow.begin} />
    case 'touch again':
      return (
        <ConfirmPasskeyAgain
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
