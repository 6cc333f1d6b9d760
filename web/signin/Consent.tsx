import type { Identity } from '@countersign/protocol/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { placeOf } from '../place.ts'
import { factsOf } from '../scope-words.ts'
import { Actions } from '../ui/Actions.tsx'
import type { Action, Doing } from '../ui/doing.ts'
import { Facts } from '../ui/Facts.tsx'
import { useWords } from '../ui/Root.tsx'
import { SignatureLine } from '../ui/SignatureLine.tsx'
import { isSettled, type Grant } from './steps.ts'

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
  const place = view.unverified?.onDevice ? words.signin.appOnDevice : placeOf(view.redirectUri)
  const settled = isSettled(grant, view) && doing.problem === undefined
  const change = (
    <button type="button" class="button quiet" onClick={() => void doing.perform({ name: 'change', do: onChange })}>
      {words.signin.change}
    </button>
  )
  return (
    <>
      {!settled && <Wanted view={view} identity={identity} grant={grant} />}
      {view.key?.reset && grant.hasKey && <p class="problem">{words.signin.newKey}</p>}
      <SignatureLine
        name={identity.displayName}
        below={`@${identity.handle} · ${words.signin.returnTo(place)}`}
        signed={settled || doing.current === 'approve'}
        aside={!settled && change}
      />
      {!settled && <Actions of={actions} doing={doing} areAnswers />}
      {!settled && <Terms app={view.app} />}
    </>
  )
}

/** What the app will learn; where it knows some already, what is new comes first and apart. */
function Wanted({ view, identity, grant }: Pick<Props, 'view' | 'identity' | 'grant'>) {
  const words = useWords()
  const isNew = (scope: string) => !grant.exists || grant.missing.includes(scope)
  const fresh = factsOf(view.scope.filter(isNew), identity, words)
  const known = factsOf(
    view.scope.filter((scope) => !isNew(scope)),
    identity,
    words,
  )
  return (
    <>
      {fresh.length > 0 && (
        <>
          <h2 class="facts-heading">{grant.exists ? words.signin.alsoSees : words.signin.sees}</h2>
          <Facts of={fresh} />
        </>
      )}
      {view.site.mail && fresh.some(({ withheld }) => withheld) && (
        <p class="otherwise">
          <a href="/account/identities" target="_blank" rel="noreferrer">
            {words.signin.addEmail}
          </a>
        </p>
      )}
      {known.length > 0 && (
        <>
          <h2 class="facts-heading">{words.signin.already}</h2>
          <Facts of={known} />
        </>
      )}
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
