import type { OrganizationChoice } from '@countersign/protocol/organizations/organization-context'
import { useEffect } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { whenSeenAgain } from '../../lib/coming-back.ts'
import { useDoing, type Doing } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { Waiting } from '../../components/display/Waiting.tsx'
import { readView } from '../../lib/view.ts'
import { AppHeading } from './AppHeading.tsx'
import { AskToLeave } from './AskToLeave.tsx'
import { ChooseIdentity } from '../../components/form/ChooseIdentity.tsx'
import { ChooseOrganization } from './ChooseOrganization.tsx'
import { ConnectorHeading } from './ConnectorHeading.tsx'
import { Consent } from './consent/Consent.tsx'
import { useFlow } from './flow.ts'
import { Leave } from './Leave.tsx'
import { SignInThere } from './SignInThere.tsx'
import type { Step } from './steps.ts'
import { Stopped } from './Stopped.tsx'
import { Unlock } from './consent/Unlock.tsx'
import { Withdrawn } from './Withdrawn.tsx'

export function SignIn() {
  const { signin, connect } = useWords()
  const view = readView('signin')
  const { app, unverified, connector } = view
  const name = unverified?.host ?? app.name
  const doing = useDoing()
  const flow = useFlow(view)
  useEffect(() => void doing.perform({ name: 'look', do: flow.look }), [])
  useEffect(reloadWhenRestored, [])
  useEffect(() => whenSeenAgain(flow.lookAgain), [])
  const title = connector ? connect.documentTitle(name, connector.owner.name) : signin.documentTitle(name)
  return (
    <Frame title={title} step={flow.step.at}>
      <section class="step">
        {!view.silently &&
          (connector ? <ConnectorHeading {...view} connector={connector} /> : <AppHeading {...view} />)}
        <CurrentStep flow={flow} doing={doing} />
      </section>
    </Frame>
  )
}

type Flow = ReturnType<typeof useFlow>

function CurrentStep({ flow, doing }: { flow: Flow; doing: Doing }) {
  const { account: words, frame } = useWords()
  const view = readView('signin')
  const { step, advance } = flow
  switch (step.at) {
    case 'look':
    case 'read grant': {
      if (doing.problem === undefined) return <Waiting />
      const again = step.at === 'look' ? flow.look : () => flow.readGrant(step.identity)
      return <Actions of={[{ name: 'retry', label: words.retry, do: again }]} doing={doing} />
    }
    case 'authenticate':
      return (
        <Authenticate
          returnTo={`${location.pathname}${location.search}`}
          doing={doing}
          others={[{ name: 'deny', label: frame.cancel, look: 'quiet', do: flow.deny }]}
          {...(view.key && { salt: saltOfKeys })}
          requestUri={view.requestUri}
          onSignedIn={flow.signedIn}
        />
      )
    case 'choose identity':
      return (
        <ChooseIdentity
          {...step}
          doing={doing}
          onChoose={(identity) => advance({ type: 'identity chosen', identity })}
          // Who was chosen in the browser's own dialog: another account is chosen there.
          onOther={view.givenTo === undefined ? flow.signOut : undefined}
          onDeny={flow.deny}
        />
      )
    case 'choose organization':
    case 'sign in there':
      return <ForOrganization flow={flow} step={step} doing={doing} />
    case 'consent':
      return (
        <Consent
          {...step}
          view={view}
          doing={doing}
          onApprove={flow.approve}
          onDeny={flow.deny}
          onChange={() => advance({ type: 'another identity wanted' })}
          onSwitch={(allowed) => advance({ type: 'organization access switched', allowed })}
        />
      )
    case 'unlock':
    case 'enter code':
      return <Unlock flow={flow} step={step} view={view} doing={doing} />
    case 'withdrawn':
      return <Withdrawn {...step} view={view} doing={doing} onBack={flow.takeBack} />
    case 'stopped':
      return <Stopped {...step} view={view} />
    case 'leave':
      return <Leave {...step} view={view} />
    case 'leave silently': {
      if (doing.problem === undefined) return <Waiting />
      return <Actions of={[{ name: 'retry', label: words.retry, do: flow.leaveSilently }]} doing={doing} />
    }
    case 'ask to leave':
      return <AskToLeave {...step} view={view} />
  }
}

type OrganizationStep = Extract<Step, { at: 'choose organization' | 'sign in there' }>

function ForOrganization({ flow, step, doing }: { flow: Flow; step: OrganizationStep; doing: Doing }) {
  const { advance, deny } = flow
  const onChange = () => advance({ type: 'another organization wanted' })
  if (step.at === 'sign in there') return <SignInThere {...step} doing={doing} onChange={onChange} onDeny={deny} />
  const onChoose = (organization: OrganizationChoice | undefined) =>
    advance({ type: 'organization chosen', organization })
  return <ChooseOrganization {...step} doing={doing} onChoose={onChoose} onDeny={deny} />
}

const saltOfKeys = async () => (await import('../../lib/vault.ts')).prfSalt()

/** Coming back from the app by the back button restores the page as it was left, at its end: it begins anew instead. */
function reloadWhenRestored() {
  const reload = (event: PageTransitionEvent) => event.persisted && location.reload()
  addEventListener('pageshow', reload)
  return () => removeEventListener('pageshow', reload)
}
