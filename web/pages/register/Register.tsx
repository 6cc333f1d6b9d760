import { useEffect } from 'preact/hooks'
import { confirmBeforeUnload, returnUrl } from '../../lib/navigation.ts'
import { type ActionState, useActions } from '../../components/form/use-actions.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { ConfirmPasskeyAgain, RecoveryCode } from '../../components/unlock/RecoveryCode.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { readSiteSettings } from '../../lib/page-data.ts'
import { AccountForm, FinishRegistration } from './AccountForm.tsx'
import { preloadVault, readSsoPrefill, useFlow } from './flow.ts'

export function Register() {
  const flow = useFlow()
  const returnTo = returnUrl(location.search, readSiteSettings())
  useEffect(preloadVault, [])
  useEffect(() => void introduce(), [])
  useEffect(() => {
    if (flow.step.at === 'leave') location.replace(returnTo)
  }, [flow.step.at, returnTo])
  async function introduce() {
    const introduction = await readSsoPrefill(returnTo)
    if (introduction) flow.introduce(introduction)
  }
  const holdsOnlyKey = flow.step.at === 'save code' && !flow.step.opensKeys
  useEffect(() => (holdsOnlyKey ? confirmBeforeUnload() : undefined), [holdsOnlyKey])
  return (
    <PageLayout title={useMessages().register.title}>
      <CurrentStep flow={flow} doing={useActions()} returnTo={returnTo} />
    </PageLayout>
  )
}

type Props = { flow: ReturnType<typeof useFlow>; doing: ActionState; returnTo: string }

function CurrentStep({ flow, doing, returnTo }: Props) {
  const { step, draft } = flow
  switch (step.at) {
    case 'describe':
      return (
        <AccountForm
          draft={draft}
          onChange={flow.setDraft}
          returnTo={returnTo}
          doing={doing}
          onCreate={flow.createAccount}
        />
      )
    case 'touch again':
      return (
        <ConfirmPasskeyAgain
          doing={doing}
          onTouch={() => flow.touchAgain(step.made)}
          onGoWithout={() => flow.goWithout(step.made)}
        />
      )
    case 'finish':
      return (
        <FinishRegistration
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
