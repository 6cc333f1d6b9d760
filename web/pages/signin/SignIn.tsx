import type { OrganizationChoice } from '@countersign/protocol/organizations/organizations'
import { useEffect } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { onBecomesVisible } from '../../lib/navigation.ts'
import { type ActionState, useActions } from '../../components/form/use-actions.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { readPageData } from '../../lib/page-data.ts'
import { AppHeading, ConnectorHeading } from './AppHeading.tsx'
import { ConfirmRedirect } from './ConfirmRedirect.tsx'
import { ChooseIdentity } from '../../components/form/ChooseIdentity.tsx'
import { ChooseOrganization } from './ChooseOrganization.tsx'
import { ConfirmPlace } from './consent/ConfirmPlace.tsx'
import { Consent } from './consent/Consent.tsx'
import { useFlow } from './flow.ts'
import { ConnectorUnavailable, OrganizationSsoPrompt, Redirecting } from './Ending.tsx'
import type { Step } from './steps.ts'
import { Stopped } from './Stopped.tsx'
import { Unlock } from './consent/Unlock.tsx'

export function SignIn() {
  const { signin, connect } = useMessages()
  const view = readPageData('signin')
  const { app, unverified, connector } = view
  const name = unverified?.host ?? app.name
  const doing = useActions()
  const flow = useFlow(view)
  useEffect(() => void doing.perform({ name: 'look', do: flow.look }), [])
  useEffect(reloadWhenRestored, [])
  useEffect(() => onBecomesVisible(flow.lookAgain), [])
  const title = connector ? connect.documentTitle(name, connector.owner.name) : signin.documentTitle(name)
  return (
    <PageLayout title={title} step={flow.step.at}>
      <section class="step">
        {!view.silently &&
          (connector ? <ConnectorHeading {...view} connector={connector} /> : <AppHeading {...view} />)}
        <CurrentStep flow={flow} doing={doing} />
      </section>
    </PageLayout>
  )
}

type Flow = ReturnType<typeof useFlow>

function CurrentStep({ flow, doing }: { flow: Flow; doing: ActionState }) {
  const { account: words, frame } = useMessages()
  const view = readPageData('signin')
  const { step, advance } = flow
  switch (step.at) {
    case 'look':
    case 'read grant': {
      if (doing.problem === undefined) return <Spinner />
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
          // With FedCM, the browser's own dialog determines the account.
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
    case 'confirm place':
      return <ConfirmPlace flow={flow} step={step} view={view} doing={doing} />
    case 'withdrawn':
      return <ConnectorUnavailable {...step} view={view} doing={doing} onBack={flow.takeBack} />
    case 'stopped':
      return <Stopped {...step} view={view} />
    case 'leave':
      return <Redirecting {...step} view={view} />
    case 'leave silently': {
      if (doing.problem === undefined) return <Spinner />
      return <Actions of={[{ name: 'retry', label: words.retry, do: flow.leaveSilently }]} doing={doing} />
    }
    case 'ask to leave':
      return <ConfirmRedirect {...step} view={view} />
  }
}

type OrganizationStep = Extract<Step, { at: 'choose organization' | 'sign in there' }>

function ForOrganization({ flow, step, doing }: { flow: Flow; step: OrganizationStep; doing: ActionState }) {
  const { advance, deny } = flow
  const onChange = () => advance({ type: 'another organization wanted' })
  if (step.at === 'sign in there')
    return <OrganizationSsoPrompt {...step} doing={doing} onChange={onChange} onDeny={deny} />
  const onChoose = (organization: OrganizationChoice | undefined) =>
    advance({ type: 'organization chosen', organization })
  return <ChooseOrganization {...step} doing={doing} onChoose={onChoose} onDeny={deny} />
}

const saltOfKeys = async () => (await import('../../lib/keys/key-vault.ts')).prfSalt()

/** Reloads the page if the browser restores it. Otherwise the back button would show its last step. */
function reloadWhenRestored() {
  const reload = (event: PageTransitionEvent) => event.persisted && location.reload()
  addEventListener('pageshow', reload)
  return () => removeEventListener('pageshow', reload)
}
