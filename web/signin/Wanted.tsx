import type { Identity } from '@countersign/protocol/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { factsOf } from '../scope-words.ts'
import { Facts } from '../ui/Facts.tsx'
import { useWords } from '../ui/Root.tsx'
import type { Grant } from './steps.ts'

type Props = { view: SignInView; identity: Identity; grant: Grant }

/** What the app will learn; where it knows some already, what is new comes first and apart. */
export function Wanted({ view, identity, grant }: Props) {
  const words = useWords()
  const isNew = (scope: string) => !grant.exists || grant.missing.includes(scope)
  const shown = scopeToShow(view)
  const fresh = factsOf(shown.filter(isNew), identity, words)
  const known = factsOf(
    shown.filter((scope) => !isNew(scope)),
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

/** An app that acts at another while the person is away, and asks for no more than that here, has said so already. */
function scopeToShow({ scope, connector }: SignInView): string[] {
  const isSaid = connector?.mode === 'background' && scope.every((each) => each === 'offline_access')
  return isSaid ? [] : scope
}
