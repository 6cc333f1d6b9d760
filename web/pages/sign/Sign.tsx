import { useEffect } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { onBecomesVisible } from '../../lib/navigation.ts'
import { type ActionState, useActions } from '../../components/form/use-actions.ts'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { readPageData } from '../../lib/page-data.ts'
import { Decide } from './Decide.tsx'
import { OpenInPopup, OrganizationSsoPrompt, RequestResult, Stopped } from './Ended.tsx'
import { WaitingForApprovals, useAnswerOfWindow } from './Ended.tsx'
import { useFlow } from './flow.ts'

export function Sign() {
  const words = useMessages().sign
  const view = readPageData('sign')
  const framed = view.embedded && parent !== self
  const doing = useActions()
  const flow = useFlow(view, framed)
  useAnswerOfWindow(framed, flow.advance)
  useEffect(() => void doing.perform({ name: 'look', do: flow.look }), [])
  useEffect(() => onBecomesVisible(flow.look), [])
  return (
    <PageLayout title={words.title} step={flow.step.at} bare={view.embedded}>
      <CurrentStep flow={flow} doing={doing} framed={framed} />
    </PageLayout>
  )
}

type Props = { flow: ReturnType<typeof useFlow>; doing: ActionState; framed: boolean }

function CurrentStep({ flow, doing, framed }: Props) {
  const { sign: words, account, signin } = useMessages()
  const { step } = flow
  switch (step.at) {
    case 'look': {
      if (doing.problem === undefined) return <Spinner />
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
      return <OpenInPopup doing={doing} />
    case 'stopped':
      return <Stopped why={step.why} doing={doing} />
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
      return <OrganizationSsoPrompt place={step.place} doing={doing} />
    case 'decide':
    case 'enter code':
      return <Decide flow={flow} step={step} doing={doing} framed={framed} />
    case 'wait':
      return <WaitingForApprovals flow={flow} step={step} doing={doing} />
    case 'end':
      return <RequestResult end={step.end} signedIn={flow.owner !== undefined} doing={doing} />
  }
}
