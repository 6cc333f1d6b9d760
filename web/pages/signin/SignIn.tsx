import type { PublicApp } from '@countersign/protocol/clients/apps'
import type { SignInView } from '@countersign/protocol/pages'
import type { OrganizationChoice } from '@countersign/protocol/organizations/organizations'
import { useEffect } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { onBecomesVisible } from '../../lib/navigation.ts'
import { type Action, type ActionState, useActions } from '../../components/form/use-actions.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { useConsentMessages } from '../../components/form/consent-words.ts'
import { Spinner } from '../../components/display/Facts.tsx'
import { readPageData } from '../../lib/page-data.ts'
import { AppHeading, ConnectorHeading } from './AppHeading.tsx'
import { ChooseIdentity } from '../../components/form/ChooseIdentity.tsx'
import { ChooseOrganization } from './ChooseOrganization.tsx'
import { ConfirmPlace } from './consent/ConfirmPlace.tsx'
import { Consent } from './consent/Consent.tsx'
import { useFlow } from './flow.ts'
import { late } from './late/loading.ts'
import { ConnectorUnavailable, OrganizationSsoPrompt, Redirecting } from './Ending.tsx'
import { acceptsSso, type Step } from './steps.ts'
import { Stopped } from './Stopped.tsx'
import { Unlock } from './consent/Unlock.tsx'

export function SignIn() {
  const { signin, connect } = useConsentMessages()
  const view = readPageData('signin')
  const { app, connector } = view
  const name = nameOf(view)
  const doing = useActions()
  const flow = useFlow(view)
  useEffect(() => void doing.perform({ name: 'look', do: flow.look }), [])
  useEffect(reloadWhenRestored, [])
  useEffect(() => onBecomesVisible(flow.lookAgain), [])
  const title = connector ? connect.documentTitle(name, connector.owner.name) : signin.documentTitle(name)
  return (
    <PageLayout title={title} step={flow.step.at} where below={flow.step.at === 'consent' && <Terms app={app} />}>
      {!view.silently && (connector ? <ConnectorHeading {...view} connector={connector} /> : <AppHeading {...view} />)}
      <CurrentStep key={flow.step.at} flow={flow} doing={doing} />
    </PageLayout>
  )
}

const nameOf = ({ app, unverified }: SignInView) => unverified?.host ?? app.name

type Flow = ReturnType<typeof useFlow>

/** The actions that end a step without its answer. */
function useEnds({ advance, deny }: Flow, view: SignInView): { leave: Action; cancel: Action } {
  const { signin, frame } = useConsentMessages()
  return {
    // The app learns that the user has not signed in.
    leave: { name: 'deny', label: signin.backTo(nameOf(view)), look: 'ghost', do: deny },
    // The app learns nothing: the user is where they were before.
    cancel: { name: 'cancel', label: frame.cancel, look: 'ghost', do: () => advance({ type: 'change cancelled' }) },
  }
}

function CurrentStep({ flow, doing }: { flow: Flow; doing: ActionState }) {
  const words = useConsentMessages().frame
  const view = readPageData('signin')
  const { step, advance } = flow
  const { leave, cancel } = useEnds(flow, view)
  switch (step.at) {
    case 'look':
    case 'read grant': {
      if (doing.problem === undefined) return <Spinner />
      const again = step.at === 'look' ? flow.look : () => flow.readGrant(step.identity)
      return <Actions of={[{ name: 'retry', label: words.retry, do: again }]} doing={doing} />
    }
    case 'authenticate':
      return <ByPasskey flow={flow} step={step} doing={doing} leave={leave} />
    case 'choose identity':
      return <AsWhom flow={flow} step={step} doing={doing} end={step.from ? cancel : leave} />
    case 'choose organization':
    case 'sign in there':
      return <ForOrganization flow={flow} step={step} doing={doing} leave={leave} cancel={cancel} />
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
      return <Unlock flow={flow} step={step} view={view} doing={doing} leave={leave} />
    case 'confirm place':
      return <ConfirmPlace flow={flow} step={step} view={view} doing={doing} />
    case 'no access': {
      const onChange = () => advance({ type: 'another identity wanted' })
      const app = step.elsewhere ?? nameOf(view)
      return late.NoAccess ? (
        <late.NoAccess {...step} app={app} doing={doing} onChange={onChange} leave={leave} />
      ) : null
    }
    case 'withdrawn':
      if (view.silently) return <LeavingSilently flow={flow} doing={doing} />
      return <ConnectorUnavailable {...step} view={view} doing={doing} onBack={flow.takeBack} />
    case 'stopped':
      return <Stopped {...step} view={view} />
    case 'leave':
      return <Redirecting {...step} view={view} />
    case 'leave silently':
      return <LeavingSilently flow={flow} doing={doing} />
    case 'ask to leave':
      return late.ConfirmRedirect ? <late.ConfirmRedirect {...step} view={view} /> : null
  }
}

function LeavingSilently({ flow, doing }: { flow: Flow; doing: ActionState }) {
  const { retry } = useConsentMessages().frame
  if (doing.problem === undefined) return <Spinner />
  return <Actions of={[{ name: 'retry', label: retry, do: flow.leaveSilently }]} doing={doing} />
}

type ByPasskeyProps = { flow: Flow; step: Extract<Step, { at: 'authenticate' }>; doing: ActionState; leave: Action }

function ByPasskey({ flow, step: { forOrganization }, doing, leave }: ByPasskeyProps) {
  const words = useConsentMessages().signin
  const view = readPageData('signin')
  return (
    <>
      {forOrganization && <p role="status">{words.passkeyFor(forOrganization)}</p>}
      <Authenticate
        returnTo={`${location.pathname}${location.search}`}
        acceptsSso={!forOrganization && acceptsSso(view)}
        doing={doing}
        others={[leave]}
        {...(view.key && { salt: saltOfKeys })}
        requestUri={view.requestUri}
        onSignedIn={flow.signedIn}
      />
    </>
  )
}

type AsWhomProps = { flow: Flow; step: Extract<Step, { at: 'choose identity' }>; doing: ActionState; end: Action }

function AsWhom({ flow, step, doing, end }: AsWhomProps) {
  const words = useConsentMessages().signin
  const { givenTo } = readPageData('signin')
  const other: Action = { name: 'sign-out', label: words.otherAccount, look: 'ghost', do: flow.signOut }
  return (
    <ChooseIdentity
      {...step}
      lastId={flow.lastIdentityId()}
      doing={doing}
      onChoose={(identity) => flow.advance({ type: 'identity chosen', identity })}
      onAdd={flow.isByPasskey() ? flow.addIdentity : undefined}
      // With FedCM, the browser's own dialog determines the account.
      others={givenTo === undefined ? [other, end] : [end]}
    />
  )
}

type OrganizationStep = Extract<Step, { at: 'choose organization' | 'sign in there' }>
type OrganizationProps = { flow: Flow; step: OrganizationStep; doing: ActionState; leave: Action; cancel: Action }

function ForOrganization({ flow, step, doing, leave, cancel }: OrganizationProps) {
  const { advance } = flow
  const onChange = () => advance({ type: 'another organization wanted' })
  if (step.at === 'sign in there')
    return <OrganizationSsoPrompt {...step} doing={doing} onChange={onChange} leave={leave} />
  const onChoose = (organization: OrganizationChoice | undefined) =>
    advance({ type: 'organization chosen', organization })
  return <ChooseOrganization {...step} doing={doing} onChoose={onChoose} end={step.from ? cancel : leave} />
}

/** The app's own pages about its terms. They open in another tab, so that the sign-in stays here. */
function Terms({ app }: { app: PublicApp }) {
  const words = useConsentMessages().signin
  const links = [
    { text: words.terms, href: app.termsUrl },
    { text: words.privacy, href: app.privacyUrl },
  ].filter(({ href }) => href !== null)
  if (links.length === 0) return null
  return (
    <ul class="below-sheet small terms" aria-label={app.name}>
      {links.map(({ text, href }) => (
        <li key={text}>
          <a href={href ?? ''} target="_blank" rel="noreferrer">
            {text}
          </a>
        </li>
      ))}
    </ul>
  )
}

const saltOfKeys = async () => (await import('../../lib/keys/key-vault.ts')).prfSalt()

/** Reloads the page if the browser restores it. Otherwise the back button would show its last step. */
function reloadWhenRestored() {
  const reload = (event: PageTransitionEvent) => event.persisted && location.reload()
  addEventListener('pageshow', reload)
  return () => removeEventListener('pageshow', reload)
}
