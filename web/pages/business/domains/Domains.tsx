import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Waiting } from '../../../components/display/Waiting.tsx'
import { Domain } from './Domain.tsx'
import { asMember } from '../session/memberships.ts'
import { NewDomain } from './NewDomain.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { callBusiness } from '../session/session.ts'
import { useBusinessWords } from '../words.ts'

/** The domains that an organization claims, with what proves them, and a place for another one. */
export function Domains({ organization }: SectionProps) {
  const words = useBusinessWords()
  const doing = useDoing()
  const [domains, setDomains] = useState<OrganizationDomain[]>()
  const read: Action = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const found = await callBusiness('GET /api/organizations/:organizationId/domains', asMember(organization))
      setDomains(found.domains)
    },
  }
  useEffect(() => void doing.perform(read), [])

  const keep = (changed: OrganizationDomain) =>
    setDomains(domains?.map((each) => (each.domainId === changed.domainId ? changed : each)))
  const forget = ({ domainId }: OrganizationDomain) => setDomains(domains?.filter((each) => each.domainId !== domainId))
  return (
    <section class="step">
      <h1>{words.sections.domains}</h1>
      <p>{words.domains.what}</p>
      {domains === undefined && (doing.problem === undefined ? <Waiting /> : <Actions of={[read]} doing={doing} />)}
      {domains && (
        <>
          <ul class="entries">
            {domains.map((each) => (
              <Domain
                key={each.domainId}
                of={each}
                organization={organization}
                onChanged={keep}
                onStale={read.do}
                onRemoved={() => forget(each)}
              />
            ))}
          </ul>
          <NewDomain
            organization={organization}
            isFirst={domains.length === 0}
            onClaimed={(claimed) => setDomains([claimed, ...domains])}
          />
        </>
      )}
    </section>
  )
}
