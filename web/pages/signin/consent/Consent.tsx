import type { Identity } from '@countersign/protocol/accounts/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, Doing } from '../../../components/form/doing.ts'
import { useWords } from '../../../components/frame/Root.tsx'
import { SignatureLine } from '../../../components/display/SignatureLine.tsx'
import { destination } from './destination.ts'
import { Delegation } from './Delegation.tsx'
import { isSettled, type Grant } from '../steps.ts'
import { Wanted } from './Scopes.tsx'

type Props = {
  view: SignInView
  identity: Identity
  grant: Grant
  doing: Doing
  onApprove: () => Promise<void>
  onDeny: () => Promise<void>
  onChange: () => Promise<void>
  /** Whether the app may have what it wants of the user's organizations. */
  onSwitch: (allowed: boolean) => Promise<void>
}

export function Consent({ view, identity, grant, doing, onApprove, onDeny, onChange, onSwitch }: Props) {
  const words = useWords()
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
      {!settled && <Wanted view={view} identity={identity} grant={grant} />}
      {!settled && view.organizationAccess && grant.organizationAccess !== undefined && (
        <OrganizationAccess wanted={view.organizationAccess} allowed={grant.organizationAccess} onSwitch={onSwitch} />
      )}
      {lacksClaims && <EmailRequired view={view} />}
      {view.key?.reset && grant.hasKey && <p class="problem">{words.signin.newKey}</p>}
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

type AccessProps = { wanted: 'read' | 'create'; allowed: boolean; onSwitch: Props['onSwitch'] }

/** What the app wants of the user's organizations, which they can switch off. */
function OrganizationAccess({ wanted, allowed, onSwitch }: AccessProps) {
  const words = useWords().signin
  return (
    <label class="option">
      <input
        type="checkbox"
        name="organizationAccess"
        checked={allowed}
        onChange={({ currentTarget }) => void onSwitch(currentTarget.checked)}
      />
      <span>{words.organizationAccess[wanted]}</span>
    </label>
  )
}

/** Where the identity has no verified e-mail address, and the app requires one. The page sees it when one is added. */
function EmailRequired({ view: { app, site } }: Pick<Props, 'view'>) {
  const words = useWords().signin
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
  const words = useWords().signin
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
