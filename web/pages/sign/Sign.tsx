import { useEffect } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { onBecomesVisible } from '../../lib/navigation.ts'
import { type ActionState, useActions } from '../../components/form/use-actions.ts'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/signature/sign-words.ts'
import { Loading } from '../../components/signature/Loading.tsx'
import { readPageData } from '../../lib/page-data.ts'
import { Decide } from './Decide.tsx'
import { OpenInPopup, OrganizationSsoPrompt, RequestResult, Stopped } from './ended/Ended.tsx'
import { WaitingForApprovals, useAnswerOfWindow } from './ended/Ended.tsx'
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
  const isCertificate = flow.step.at === 'end' && flow.step.end === 'signed' && flow.step.request !== undefined
  return (
    <PageLayout
      title={words.title}
      step={flow.step.at}
      wide={isCertificate}
      where={flow.step.at === 'decide'}
      bare={view.embedded}
    >
      <CurrentStep flow={flow} doing={doing} framed={framed} />
    </PageLayout>
  )
}

type Props = { flow: ReturnType<typeof useFlow>; doing: ActionState; framed: boolean }

function CurrentStep({ flow, doing, framed }: Props) {
  const { sign: words, frame, signin } = useMessages()
  const { step } = flow
  switch (step.at) {
    case 'look': {
      if (doing.problem === undefined) return <Loading />
      return <Actions of={[{ name: 'retry', label: frame.retry, do: flow.look }]} doing={doing} />
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
      return <RequestResult step={step} owner={flow.owner} doing={doing} framed={framed} />
  }
}
