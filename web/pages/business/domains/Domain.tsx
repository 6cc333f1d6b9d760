import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { limits } from '@countersign/protocol/formats/limits'
import { useState } from 'preact/hooks'
import { dayOf } from '../../../lib/text/dates.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useSpeech } from '../../../components/frame/Root.tsx'
import { Refused } from '../../../lib/call.ts'
import { act, signedOr, type Act } from '../session/acts.ts'
import { DomainRecord } from './DomainRecord.tsx'
import { verdictOf, type Verdict } from './domain-verdict.ts'
import { asMember } from '../session/memberships.ts'
import { RemoveDomain } from './RemoveDomain.tsx'
import { useBusinessWords, type BusinessWords } from '../words.ts'

const removal = 'DELETE /api/organizations/:organizationId/domains/:domainId'
const verification = 'POST /api/organizations/:organizationId/domains/:domainId/verify'

type Props = {
  of: OrganizationDomain
  organization: OwnOrganization
  onChanged: (domain: OrganizationDomain) => void
  /** What the server has found may have changed how the domain stands. */
  onStale: () => unknown
  onRemoved: () => void
}

/** A domain: how it stands, the record that proves it, and what can be done. */
export function Domain({ of: claim, organization, onChanged, onStale, onRemoved }: Props) {
  const { domains: words } = useBusinessWords()
  const doing = useDoing()
  const [verdict, setVerdict] = useState<Verdict>()
  const [removing, setRemoving] = useState(false)
  const { domainId, domain, status, challenge } = claim
  const isProved = status === 'verified'
  const { params, querystring } = asMember(organization)
  const given = { params: { ...params, domainId }, querystring }

  const check: Action = {
    name: `check-${domain}`,
    label: words.check,
    look: isProved ? 'quiet' : 'secondary',
    do: async () => {
      setVerdict(undefined)
      try {
        const verified = await act(verification, { ...given, body: null })
        onChanged(verified.domain)
      } catch (error) {
        setVerdict(verdictOf(error))
        await onStale()
      }
    },
  }
  const removeBy = async (how: Act) => {
    await how(removal, { ...given, body: null }).catch(acceptGone)
    onRemoved()
  }
  const remove: Action = {
    name: `remove-${domain}`,
    label: words.remove,
    look: 'quiet',
    do: () => signedOr(removeBy, () => setRemoving(true)),
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
          <DomainRecord of={challenge} />
        </details>
      ) : (
        <DomainRecord of={challenge} />
      )}
      <div role="alert">{verdict && <p class="problem">{words.verdicts[verdict]}</p>}</div>
      <Actions of={[check, remove]} doing={doing} />
      {removing && <RemoveDomain claim={claim} onAgreed={() => removeBy(act)} onClose={() => setRemoving(false)} />}
    </li>
  )
}

type StandingProps = { of: OrganizationDomain; words: BusinessWords['domains'] }

function Standing({ of: { verifiedAt, failingSince }, words }: StandingProps) {
  const { language } = useSpeech()
  if (failingSince !== null) {
    const end = new Date(Date.parse(failingSince) + limits.domainGraceSeconds * 1000)
    return <p class="problem">{words.failing(dayOf(end.toISOString(), language, new Date()))}</p>
  }
  if (verifiedAt === null) return <p>{words.pending}</p>
  return <p>{words.verified(dayOf(verifiedAt, language, new Date()))}</p>
}

/** Removed already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'domain_not_found')) throw error
}
