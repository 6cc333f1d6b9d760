import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { useState } from 'preact/hooks'
import { dayOf } from '../../../lib/text/dates.ts'
import { NamedLabel } from '../../../components/display/NamedLabel.tsx'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { ApiError } from '../../../lib/api/call.ts'
import { act, signedOrUnsigned, type SignedAction } from '../session/acts.ts'
import { DomainRecord } from './DomainRecord.tsx'
import { verificationMessage, type VerificationOutcome } from './domain-verdict.ts'
import { memberContext } from '../session/membership.ts'
import { RemoveDomain } from './RemoveDomain.tsx'
import { useBusinessMessages, type BusinessWords } from '../words.ts'

const removal = 'DELETE /api/organizations/:organizationId/domains/:domainId'
const verification = 'POST /api/organizations/:organizationId/domains/:domainId/verify'

type Props = {
  of: OrganizationDomain
  organization: OwnOrganization
  onChanged: (domain: OrganizationDomain) => void
  /** Called if a check may have changed the status of the domain. */
  onStale: () => unknown
  onRemoved: () => void
}

/** A domain: its status, the DNS record that verifies it, and its actions. */
export function Domain({ of: claim, organization, onChanged, onStale, onRemoved }: Props) {
  const { domains: words } = useBusinessMessages()
  const doing = useActions()
  const [verdict, setVerdict] = useState<VerificationOutcome>()
  const [removing, setRemoving] = useState(false)
  const { domainId, domain, status } = claim
  const isProved = status === 'verified'
  const { params, querystring } = memberContext(organization)
  const given = { params: { ...params, domainId }, querystring }

  const check: Action = {
    name: `check-${domain}`,
    label: <NamedLabel label={words.check} of={domain} />,
    look: isProved ? 'quiet' : 'secondary',
    do: async () => {
      setVerdict(undefined)
      try {
        const verified = await act(verification, { ...given, body: null })
        onChanged(verified.domain)
      } catch (error) {
        setVerdict(verificationMessage(error))
        await onStale()
      }
    },
  }
  const removeBy = async (how: SignedAction) => {
    await how(removal, { ...given, body: null }).catch(acceptGone)
    onRemoved()
  }
  const remove: Action = {
    name: `remove-${domain}`,
    label: <NamedLabel label={words.remove} of={domain} />,
    look: 'quiet',
    do: () => signedOrUnsigned(removeBy, () => setRemoving(true)),
  }
  return (
    <li class="entry domain">
      <div>
        <h2>{domain}</h2>
        <Standing of={claim} words={words} />
      </div>
      {isProved ? (
        <details>
          <summary>{words.record}</summary>
          <DomainRecord of={claim} />
        </details>
      ) : (
        <DomainRecord of={claim} />
      )}
      <div role="alert">{verdict && <p class="problem">{words.verdicts[verdict]}</p>}</div>
      <Actions of={[check, remove]} doing={doing} />
      {removing && <RemoveDomain claim={claim} onAgreed={() => removeBy(act)} onClose={() => setRemoving(false)} />}
    </li>
  )
}

type StandingProps = { of: OrganizationDomain; words: BusinessWords['domains'] }

function Standing({ of: { verifiedAt, failingSince }, words }: StandingProps) {
  const { language } = useLocale()
  if (failingSince !== null) {
    const end = new Date(Date.parse(failingSince) + pageLimits.domainGraceSeconds * 1000)
    return <p class="problem">{words.failing(dayOf(end.toISOString(), language, new Date()))}</p>
  }
  if (verifiedAt === null) return <p>{words.pending}</p>
  return <p>{words.verified(dayOf(verifiedAt, language, new Date()))}</p>
}

/** Ignores that the domain was already removed from another tab. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'domain_not_found')) throw error
}
