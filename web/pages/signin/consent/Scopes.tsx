import type { Identity } from '@countersign/protocol/accounts/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { consentFacts, type LabelledValue } from '../../../lib/text/scope-words.ts'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Facts, type Fact } from '../../../components/ui/Facts.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { type ConsentMessages, useConsentMessages } from '../../../components/form/consent-words.ts'
import type { Grant } from '../steps.ts'

type Props = { view: SignInView; identity: Identity; grant: Grant }

/** Lists what the app will learn. If it knows some of it already, what is new is listed first and separately. */
export function RequestedClaims({ view, identity, grant }: Props) {
  const words = useConsentMessages()
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
  if (fresh.length + known.length === 0) return null
  const isAnonymous = !view.scope.includes('user_id')
  return (
    <div class="stack">
      {fresh.length > 0 && (
        <>
          <h2>{grant.exists ? words.signin.alsoSees : words.signin.sees}</h2>
          <Facts of={factsOf(fresh, identity, words.signin)} isRuled />
        </>
      )}
      {view.site.mail && !grant.lacking?.length && fresh.some(({ withheld }) => withheld) && (
        <p class="small">
          <a href="/account/identities" target="_blank" rel="noreferrer">
            {words.signin.addEmail}
          </a>
        </p>
      )}
      {known.length > 0 && (
        <>
          <h2>{words.signin.already}</h2>
          <Facts of={factsOf(known, identity, words.signin)} isRuled />
        </>
      )}
      {isAnonymous && (
        <p class="small soft with-icon">
          <Icon name="shield-check" size="sm" />
          {words.signin.unseen}
        </p>
      )}
    </div>
  )
}

function factsOf(values: LabelledValue[], { emailVerified }: Identity, words: ConsentMessages['signin']): Fact[] {
  return values.map(({ scope, label, value, withheld }) => ({
    label,
    value:
      scope === 'email' && emailVerified && !withheld ? (
        <>
          {value}{' '}
          <Chip tone="ok" icon="check">
            {words.confirmedEmail}
          </Chip>
        </>
      ) : withheld ? (
        <span class="soft">{value}</span>
      ) : (
        value
      ),
  }))
}

/** The organization that the user acts for, and that the app learns their role in it. */
function organizationFacts({ organization }: Grant, words: ConsentMessages['signin']): LabelledValue[] {
  if (!organization) return []
  return [{ scope: 'organization', label: words.organization, value: words.organizationValue(organization.name) }]
}

/** Omits `offline_access` if an app with a background delegation requests no other scope: the delegation implies it. */
function scopeToShow({ scope, connector }: SignInView): string[] {
  const isSaid = connector?.mode === 'background' && scope.every((each) => each === 'offline_access')
  return isSaid ? [] : scope
}
