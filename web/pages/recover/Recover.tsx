import { useEffect } from 'preact/hooks'
import { confirmBeforeUnload, returnUrl } from '../../lib/navigation.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { type ActionState, useActions } from '../../components/form/use-actions.ts'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { ConfirmPasskeyAgain } from '../../components/unlock/RecoveryCode.tsx'
import { ContextLine } from '../../components/unlock/RequestingApp.tsx'
import { SaveRecoveryCode } from '../../components/unlock/SaveRecoveryCode.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { readPageData, readSiteSettings } from '../../lib/page-data.ts'
import { preloadVault, useFlow } from './flow.ts'
import { RecoveryForm } from './Identify.tsx'
import { usePageWords } from './words.ts'

/** Restores access for users who have lost their passkeys. */
export function Recover() {
  const flow = useFlow()
  const { app, invitation } = readPageData('recover')
  const returnTo = returnUrl(location.search, readSiteSettings())
  useEffect(preloadVault, [])
  useEffect(() => {
    if (flow.step.at === 'leave') location.replace(returnTo)
  }, [flow.step.at, returnTo])
  const holdsCode = flow.step.at === 'save code'
  useEffect(() => (holdsCode ? confirmBeforeUnload() : undefined), [holdsCode])
  return (
    <PageLayout title={usePageWords().title} step={flow.step.at} where>
      <ContextLine app={app} invitation={invitation} />
      <CurrentStep flow={flow} doing={useActions()} returnTo={returnTo} app={app?.name} />
    </PageLayout>
  )
}

type Props = { flow: ReturnType<typeof useFlow>; doing: ActionState; returnTo: string; app: string | undefined }

function CurrentStep({ flow, doing, returnTo, app }: Props) {
  const { register, recovery } = useMessages()
  const words = usePageWords()
  const { step } = flow
  switch (step.at) {
    case 'identify':
      return <RecoveryForm returnTo={returnTo} doing={doing} onBegin={flow.begin} />
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
        <section class="stack loose">
          <StepHeading>{register.unfinished}</StepHeading>
          <Actions of={[{ name: 'finish', label: register.finish, do: finish }]} doing={doing} />
        </section>
      )
    }
    case 'unopened': {
      const goOn = () => location.replace(returnTo)
      return (
        <section class="stack loose">
          <div class="stack tight">
            <StepHeading>{words.restored}</StepHeading>
            <p class="lead">{words.unopened}</p>
          </div>
          <Actions of={[{ name: 'go-on', label: words.goOn, do: goOn }]} doing={doing} />
        </section>
      )
    }
    case 'save code':
      return (
        <SaveRecoveryCode
          session={step.owner}
          begin={{ at: 'save code', code: step.code, opensKeys: step.opensKeys }}
          title={words.restored}
          lead={words.restoredLead}
          confirm={app === undefined ? recovery.savedAndContinue : recovery.savedAndContinueTo(app)}
          onSaved={flow.saved}
        />
      )
    case 'leave':
      return null
  }
}
