import type { Identity } from '@countersign/protocol/accounts/identities'
import type { ConnectorUnavailableReason, SignInView } from '@countersign/protocol/pages'
import { useConsentMessages } from '../../components/form/consent-words.ts'
import { Signature } from '../../components/signature/Signature.tsx'
import { destination } from './consent/delegating.ts'
import type { OrganizationChoice } from '@countersign/protocol/organizations/organizations'
import { startSso } from '../../lib/session/start-sso.ts'
import { Actions } from '../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { atHandle } from '../../lib/text/handle.ts'

type RedirectingProps = { identity: Identity | undefined; view: SignInView }

/** Shown until the app's page has loaded. The user sees it longer if an installed app must start first. */
export function Redirecting({ identity, view }: RedirectingProps) {
  const words = useConsentMessages().signin
  return (
    <>
      {identity && <Signature name={identity.displayName} below={atHandle(identity.handle)} isSigned isNow />}
      <p role="status" class="soft">
        {words.leaving(view.unverified?.onDevice ? words.appOnDevice : destination(view))}
      </p>
    </>
  )
}

type OrganizationSsoPromptProps = {
  organization: OrganizationChoice
  doing: ActionState
  onChange: () => Promise<void>
  leave: Action
}

/** Shown if the organization requires SSO. After the login, the user returns to this request. */
export function OrganizationSsoPrompt({ organization, doing, onChange, leave }: OrganizationSsoPromptProps) {
  const words = useConsentMessages().signin
  const { id, name, loginUrl = '' } = organization
  const actions: Action[] = [
    {
      name: 'sign-in-there',
      label: words.continueWith(name),
      icon: 'building',
      do: () => startSso(loginUrl, { returnTo: hereFor(id) }),
    },
    { name: 'change', label: words.change, look: 'secondary', do: onChange },
    leave,
  ]
  return (
    <section class="stack loose">
      <StepHeading level={2}>{words.requiresSso(name)}</StepHeading>
      <Actions of={actions} doing={doing} />
    </section>
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
  view: { app, unverified, connector },
  doing,
  onBack,
}: ConnectorUnavailableProps) {
  const words = useConsentMessages().connect
  const back: Action = { name: 'back', label: words.back(unverified?.host ?? app.name), do: () => onBack(why) }
  return (
    <section class="stack loose">
      <div class="stack tight">
        <StepHeading level={2}>{words.withdrawn[why](connector?.owner.name ?? '')}</StepHeading>
        <p class="lead">{words.nothingGranted}</p>
      </div>
      <Actions of={[back]} doing={doing} />
    </section>
  )
}
