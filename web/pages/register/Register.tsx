import { useEffect, useState } from 'preact/hooks'
import { returnUrl } from '../../lib/navigation.ts'
import { type ActionState, useActions } from '../../components/form/use-actions.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { ConfirmPasskeyAgain } from '../../components/unlock/RecoveryCode.tsx'
import { ContextLine } from '../../components/unlock/RequestingApp.tsx'
import { SaveRecoveryCode } from '../../components/unlock/SaveRecoveryCode.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { Steps } from '../../components/ui/Tabs.tsx'
import { readPageData, readSiteSettings } from '../../lib/page-data.ts'
import { AccountForm, AlreadySignedIn, FinishRegistration } from './AccountForm.tsx'
import { AcceptAsFurther, OfferLine, Refused, SetUpAsOneself } from './Offer.tsx'
import { type Admission, needsEmail, readAdmission, useOffer } from './admission.ts'
import { preloadVault, readSsoPrefill, useFlow } from './flow.ts'
import { ProveEmail } from './ProveEmail.tsx'
import { useEmailWords } from './words.ts'
import type { Step } from './steps.ts'

export function Register() {
  const { app, invitation } = readPageData('register')
  const [admission] = useState(readAdmission)
  const { email, refused } = useEmailWords()
  const flow = useFlow(admission, refused)
  const { offer, refusal } = useOffer(admission, flow.introduce)
  const words = useMessages().register
  const isOfDomains = needsEmail(admission, readSiteSettings())
  const returnTo = admission.setup === undefined ? returnUrl(location.search, readSiteSettings()) : '/admin'
  const doing = useActions()
  useEffect(preloadVault, [])
  useEffect(() => void flow.look(), [])
  useEffect(() => void introduce(), [])
  useEffect(() => {
    if (flow.step.at === 'leave') location.replace(returnTo)
  }, [flow.step.at, returnTo])
  async function introduce() {
    const introduction = await readSsoPrefill(returnTo)
    if (introduction) flow.introduce(introduction)
  }
  const { step } = flow
  const current = positions[step.at]
  const isCreating = step.at === 'describe' && doing.current === 'create-account'
  const isOpen = step.at === 'address' || step.at === 'describe' || step.at === 'signed in'
  return (
    <PageLayout title={words.title} step={step.at} where>
      <ContextLine app={app} invitation={invitation} />
      {isOpen && <OfferLine admission={admission} offer={offer} />}
      {current !== undefined && refusal === undefined && (
        <Steps
          label={words.steps}
          steps={[...(isOfDomains ? [email] : []), words.username, words.passkey, words.recoveryCode]}
          current={(isCreating ? 1 : current) + (isOfDomains ? 1 : 0)}
        />
      )}
      {refusal === undefined || !isOpen ? (
        <CurrentStep flow={flow} doing={doing} returnTo={returnTo} app={app?.name} admission={admission} />
      ) : (
        <Refused refusal={refusal} returnTo={returnTo} />
      )}
    </PageLayout>
  )
}

/** The place of each step among those that the user sees. */
const positions: Record<Step['at'], number | undefined> = {
  address: -1,
  code: -1,
  describe: 0,
  'signed in': undefined,
  'touch again': 1,
  finish: 1,
  'save code': 2,
  leave: 3,
}

type Props = {
  flow: ReturnType<typeof useFlow>
  doing: ActionState
  returnTo: string
  app: string | undefined
  admission: Admission
}

function CurrentStep({ flow, doing, returnTo, app, admission }: Props) {
  const words = useMessages().recovery
  const { step, draft } = flow
  const { setup, invitation } = admission
  switch (step.at) {
    case 'address':
    case 'code':
      return <ProveEmail step={step} flow={flow} returnTo={returnTo} doing={doing} />
    case 'describe':
      return (
        <AccountForm
          draft={draft}
          onChange={flow.setDraft}
          returnTo={returnTo}
          doing={doing}
          onCreate={flow.createAccount}
          onSignIn={invitation === undefined ? undefined : flow.signInHere}
        />
      )
    case 'signed in':
      if (setup !== undefined)
        return <SetUpAsOneself setup={setup} session={step.session} doing={doing} onSignOut={flow.signOutFirst} />
      if (invitation !== undefined) return <AcceptAsFurther flow={flow} session={step.session} doing={doing} />
      return (
        <AlreadySignedIn
          session={step.session}
          doing={doing}
          onContinue={() => location.assign(returnTo)}
          onSignOut={flow.signOutFirst}
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
        <SaveRecoveryCode
          session={step.owner}
          {...(step.code && { begin: { at: 'save code', ...step.code } })}
          confirm={app === undefined ? words.savedAndContinue : words.savedAndContinueTo(app)}
          onSaved={() => flow.advance({ type: 'code saved' })}
        />
      )
    case 'leave':
      return null
  }
}
