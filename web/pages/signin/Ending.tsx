import type { Identity } from '@countersign/protocol/accounts/identities'
import type { ConnectorUnavailableReason, SignInView } from '@countersign/protocol/pages'
import { useMessages } from '../../components/frame/Root.tsx'
import { SignatureLine } from '../../components/display/Monogram.tsx'
import { destination } from './consent/delegating.ts'
import type { OrganizationChoice } from '@countersign/protocol/organizations/organizations'
import { startSso } from '../../lib/session/start-sso.ts'
import { Actions } from '../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { Spinner } from '../../components/display/Facts.tsx'

type RedirectingProps = { identity: Identity | undefined; view: SignInView }

/** Shown until the app's page has loaded. The user sees it longer if an installed app must start first. */
export function Redirecting({ identity, view }: RedirectingProps) {
  const words = useMessages().signin
  return (
    <>
      {identity && <SignatureLine name={identity.displayName} below={`@${identity.handle}`} signed />}
      <p role="status">{words.leaving(view.unverified?.onDevice ? words.appOnDevice : destination(view))}</p>
    </>
  )
}

type OrganizationSsoPromptProps = {
  organization: OrganizationChoice
  doing: ActionState
  onChange: () => Promise<void>
  onDeny: () => Promise<void>
}

/** Shown if the organization requires SSO. After the login, the user returns to this request. */
export function OrganizationSsoPrompt({ organization, doing, onChange, onDeny }: OrganizationSsoPromptProps) {
  const { signin: words, frame } = useMessages()
  const { id, name, loginUrl = '' } = organization
  const actions: Action[] = [
    { name: 'sign-in-there', label: words.continueWith(name), do: () => startSso(loginUrl, { returnTo: hereFor(id) }) },
    { name: 'change', label: words.change, look: 'quiet', do: onChange },
    { name: 'deny', label: frame.cancel, look: 'quiet', do: onDeny },
  ]
  return (
    <>
      <StepHeading level={2}>{words.requiresSso(name)}</StepHeading>
      <Actions of={actions} doing={doing} />
    </>
  )
}

/** Returns the URL of this authorization request with the chosen organization. */
function hereFor(organizationId: string): string {
  const here = new URL(location.href)
  if (here.searchParams.has('organization_id')) here.searchParams.set('organization_id', organizationId)
  return here.href
}

type ConnectorUnavailableProps = {
  why: ConnectorUnavailableReason
  view: SignInView
  doing: ActionState
  onBack: (why: ConnectorUnavailableReason) => void
}

/** Shown if the other app no longer offers what was requested, since this page was opened. */
export function ConnectorUnavailable({
  why,
  view: { app, unverified, connector, silently },
  doing,
  onBack,
}: ConnectorUnavailableProps) {
  const words = useMessages().connect
  if (silently) return <Spinner />
  const back: Action = { name: 'back', label: words.back(unverified?.host ?? app.name), do: () => onBack(why) }
  return (
    <>
      <StepHeading level={2}>{words.withdrawn[why](connector?.owner.name ?? '')}</StepHeading>
      <p>{words.nothingGranted}</p>
      <Actions of={[back]} doing={doing} />
    </>
  )
}
