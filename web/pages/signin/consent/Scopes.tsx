import type { Identity } from '@countersign/protocol/accounts/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { consentFacts, type LabelledValue } from '../../../lib/text/scope-words.ts'
import { DefinitionList } from '../../../components/display/Facts.tsx'
import { useMessages } from '../../../components/frame/Root.tsx'
import type { Messages } from '../../../locales/messages.ts'
import type { Grant } from '../steps.ts'

type Props = { view: SignInView; identity: Identity; grant: Grant }

/** Lists what the app will learn. If it knows some of it already, what is new is listed first and separately. */
export function RequestedClaims({ view, identity, grant }: Props) {
  const words = useMessages()
  const isNew = (scope: string) => !grant.exists || grant.missing.includes(scope)
  const shown = scopeToShow(view)
  const place = organizationFacts(grant, words.signin)
  const fresh = [...(grant.organization?.known ? [] : place), ...consentFacts(shown.filter(isNew), identity, words)]
  const known = [
    ...(grant.organization?.known ? place : []),
    ...consentFacts(
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
          <DefinitionList of={fresh} />
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
          <DefinitionList of={known} />
        </>
      )}
    </>
  )
}

/** The organization that the user acts for, and that the app learns their role in it. */
function organizationFacts({ organization }: Grant, words: Messages['signin']): LabelledValue[] {
  if (!organization) return []
  return [{ scope: 'organization', label: words.organization, value: words.organizationValue(organization.name) }]
}

/** Omits `offline_access` if an app with a background delegation requests no other scope: the delegation implies it. */
function scopeToShow({ scope, connector }: SignInView): string[] {
  const isSaid = connector?.mode === 'background' && scope.every((each) => each === 'offline_access')
  return isSaid ? [] : scope
}
