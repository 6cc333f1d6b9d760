import type { Identity } from '@countersign/protocol/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { Actions } from '../ui/Actions.tsx'
import type { Action, Doing } from '../ui/doing.ts'
import { useWords } from '../ui/Root.tsx'
import { SignatureLine } from '../ui/SignatureLine.tsx'
import { destination } from './destination.ts'
import { Delegation } from './Delegation.tsx'
import { isSettled, type Grant } from './steps.ts'
import { Wanted } from './Wanted.tsx'

type Props = {
  view: SignInView
  identity: Identity
  grant: Grant
  doing: Doing
  onApprove: () => Promise<void>
  onDeny: () => Promise<void>
  onChange: () => Promise<void>
}

export function Consent({ view, identity, grant, doing, onApprove, onDeny, onChange }: Props) {
  const words = useWords()
  const actions: Action[] = [
    { name: 'approve', label: words.signin.approve, do: onApprove },
    { name: 'deny', label: words.signin.deny, look: 'secondary', do: onDeny },
  ]
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
