import type { Identity } from '@countersign/protocol/accounts/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { factsOf, type Fact } from '../../../lib/text/scope-words.ts'
import { Facts } from '../../../components/display/Facts.tsx'
import { useWords } from '../../../components/frame/Root.tsx'
import type { Words } from '../../../locales/words.ts'
import type { Grant } from '../steps.ts'

type Props = { view: SignInView; identity: Identity; grant: Grant }

/** What the app will learn; where it knows some already, what is new comes first and apart. */
export function Wanted({ view, identity, grant }: Props) {
  const words = useWords()
  const isNew = (scope: string) => !grant.exists || grant.missing.includes(scope)
  const shown = scopeToShow(view)
  const place = placeOf(grant, words.signin)
  const fresh = [...(grant.organization?.known ? [] : place), ...factsOf(shown.filter(isNew), identity, words)]
  const known = [
    ...(grant.organization?.known ? place : []),
    ...factsOf(
      shown.filter((scope) => !isNew(scope)),
      identity,
      words,
    ),
  ]
  return (
    <>
      {fresh.length > 0 && (
        <>
          <h2 class="facts-heading">{grant.exists ? words.signin.alsoSees : words.signin.sees}</h2>
          <Facts of={fresh} />
        </>
      )}
      {view.site.mail && !grant.lacking?.length && fresh.some(({ withheld }) => withheld) && (
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

/** For which organization the person goes on, and that the app learns what they are there. */
function placeOf({ organization }: Grant, words: Words['signin']): Fact[] {
  if (!organization) return []
  return [{ scope: 'organization', label: words.organization, value: words.organizationValue(organization.name) }]
}

/** An app that acts at another while the person is away, and asks for no more than that here, has said so already. */
function scopeToShow({ scope, connector }: SignInView): string[] {
  const isSaid = connector?.mode === 'background' && scope.every((each) => each === 'offline_access')
  return isSaid ? [] : scope
}
