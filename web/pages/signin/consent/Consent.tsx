import type { Identity } from '@countersign/protocol/accounts/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/frame/Root.tsx'
import { SignatureLine } from '../../../components/display/Monogram.tsx'
import { destination } from './delegating.ts'
import { Delegation } from './Delegation.tsx'
import { requestedTarget } from '../requested-target.ts'
import { isSettled, type Grant } from '../steps.ts'
import { RequestedClaims } from './Scopes.tsx'

type Props = {
  view: SignInView
  identity: Identity
  grant: Grant
  doing: ActionState
  onApprove: () => Promise<void>
  onDeny: () => Promise<void>
  onChange: () => Promise<void>
  /** Sets whether the app may have the requested access to the user's organizations. */
  onSwitch: (allowed: boolean) => Promise<void>
}

export function Consent({ view, identity, grant, doing, onApprove, onDeny, onChange, onSwitch }: Props) {
  const words = useMessages()
  const deny: Action = { name: 'deny', label: words.signin.deny, look: 'secondary', do: onDeny }
  const approve: Action = { name: 'approve', label: words.signin.approve, do: onApprove }
  const lacksClaims = Boolean(grant.lacking?.length)
  const actions = lacksClaims ? [deny] : [approve, deny]
  const place = view.unverified?.onDevice ? words.signin.appOnDevice : destination(view)
  const settled = isSettled(grant, view) && doing.problem === undefined
  const forWhom = grant.organization ? [words.signin.forOrganization(grant.organization.name)] : []
  const change = (
    <button type="button" class="button quiet" onClick={() => void doing.perform({ name: 'change', do: onChange })}>
      {words.signin.change}
    </button>
  )
  return (
    <>
      {!settled && <Delegation view={view} grant={grant} />}
      {!settled && <RequestedClaims view={view} identity={identity} grant={grant} />}
      {!settled && view.organizationAccess && grant.organizationAccess !== undefined && (
        <OrganizationAccess
          requested={view.organizationAccess}
          allowed={grant.organizationAccess}
          onSwitch={onSwitch}
        />
      )}
      {lacksClaims && <EmailRequired view={view} />}
      {view.key && view.givenTo === undefined && requestedTarget(view, location.search).binds && (
        <p>{words.signin.serverOpens(view.app.name)}</p>
      )}
      {view.key?.reset && grant.storedKey && <p class="problem">{words.signin.newKey}</p>}
      <SignatureLine
        name={identity.displayName}
        below={[`@${identity.handle}`, ...forWhom, words.signin.returnTo(place)].join(' · ')}
        signed={settled || doing.current === 'approve'}
        aside={!settled && change}
      />
      {!settled && <Actions of={actions} doing={doing} areAnswers />}
      {!settled && <Terms app={view.app} />}
    </>
  )
}

type AccessProps = { requested: 'read' | 'create'; allowed: boolean; onSwitch: Props['onSwitch'] }

/** The requested access to the user's organizations, which users can switch off. */
function OrganizationAccess({ requested, allowed, onSwitch }: AccessProps) {
  const words = useMessages().signin
  return (
    <label class="option">
      <input
        type="checkbox"
        name="organizationAccess"
        checked={allowed}
        onChange={({ currentTarget }) => void onSwitch(currentTarget.checked)}
      />
      <span>{words.organizationAccess[requested]}</span>
    </label>
  )
}

/**
 * Shown if the app requires a verified e-mail address and the identity has none. The page notices when one is added.
 */
function EmailRequired({ view: { app, site } }: Pick<Props, 'view'>) {
  const words = useMessages().signin
  return (
    <section class="step">
      <p class="problem">{words.emailRequired(app.name)}</p>
      {site.mail ? (
        <a class="button primary" data-action="add-email" href="/account/identities" target="_blank" rel="noreferrer">
          {words.addEmail}
        </a>
      ) : (
        <p>{words.emailUnavailable}</p>
      )}
    </section>
  )
}

function Terms({ app }: Pick<SignInView, 'app'>) {
  const words = useMessages().signin
  const links = [
    { text: words.privacy, href: app.privacyUrl },
    { text: words.terms, href: app.termsUrl },
  ]
  return (
    <p class="terms">
      {links.map(
        ({ text, href }) =>
          href !== null && (
            <a key={text} href={href} target="_blank" rel="noreferrer">
              {text}
            </a>
          ),
      )}
    </p>
  )
}
