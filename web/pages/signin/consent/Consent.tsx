import type { Identity } from '@countersign/protocol/accounts/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../../components/form/use-actions.ts'
import { useConsentMessages } from '../../../components/form/consent-words.ts'
import { Signature } from '../../../components/signature/Signature.tsx'
import { Note } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { destination } from './delegating.ts'
import { Delegation } from './Delegation.tsx'
import { requestedTarget } from '../requested-target.ts'
import { isSettled, type Grant } from '../steps.ts'
import { RequestedClaims } from './Scopes.tsx'
import { atHandle } from '../../../lib/text/handle.ts'

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
  const words = useConsentMessages()
  const deny: Action = { name: 'deny', label: words.signin.deny, look: 'secondary', do: onDeny }
  const approve: Action = { name: 'approve', label: words.signin.approve, do: onApprove }
  const lacksClaims = Boolean(grant.lacking?.length)
  const actions = lacksClaims ? [deny] : [approve, deny]
  const place = view.unverified?.onDevice ? words.signin.appOnDevice : destination(view)
  const settled = isSettled(grant, view) && doing.problem === undefined
  const forWhom = grant.organization ? [words.signin.forOrganization(grant.organization.name)] : []
  const change = (
    <button type="button" class="link" onClick={() => void doing.perform({ name: 'change', do: onChange })}>
      <Icon name="chevrons-up-down" size="sm" />
      {words.signin.change}
    </button>
  )
  return (
    <section class="stack loose">
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
        <Note>{words.signin.serverOpens(view.app.name)}</Note>
      )}
      {view.key?.reset && grant.storedKey && <Note tone="bad">{words.signin.newKey}</Note>}
      <Signature
        name={identity.displayName}
        below={<SignatureBelow parts={[atHandle(identity.handle), ...forWhom, words.signin.returnTo(place)]} />}
        isSigned={settled || doing.current === 'approve'}
        isNow={doing.current === 'approve'}
        aside={!settled && change}
      />
      {!settled && <Actions of={actions} doing={doing} areAnswers={!lacksClaims} />}
    </section>
  )
}

/** What stands below a signature line: who signs, for which organization, and where the user goes then. */
export function SignatureBelow({ parts }: { parts: string[] }) {
  return (
    <>
      {parts.map((part) => (
        <span key={part}>{part}</span>
      ))}
    </>
  )
}

type AccessProps = { requested: 'read' | 'create'; allowed: boolean; onSwitch: Props['onSwitch'] }

/** The requested access to the user's organizations, which users can switch off. */
function OrganizationAccess({ requested, allowed, onSwitch }: AccessProps) {
  const words = useConsentMessages().signin
  return (
    <label class="check boxed">
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
  const words = useConsentMessages().signin
  return (
    <section class="stack">
      <Note tone="wait">{words.emailRequired(app.name)}</Note>
      {site.mail ? (
        <a
          class="button primary big block"
          data-action="add-email"
          href="/account/identities"
          target="_blank"
          rel="noreferrer"
        >
          {words.addEmail}
        </a>
      ) : (
        <p>{words.emailUnavailable}</p>
      )}
    </section>
  )
}
