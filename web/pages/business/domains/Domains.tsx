import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Spinner } from '../../../components/display/Facts.tsx'
import { Domain } from './Domain.tsx'
import { memberContext } from '../session/membership.ts'
import { NewDomain } from './NewDomain.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { callBusiness } from '../session/session.ts'
import { useBusinessMessages } from '../words.ts'

/** Lists the domains of an organization with their DNS records, and a form for another one. */
export function Domains({ organization }: SectionProps) {
  const words = useBusinessMessages()
  const doing = useActions()
  const [domains, setDomains] = useState<OrganizationDomain[]>()
  const read: Action = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const found = await callBusiness('GET /api/organizations/:organizationId/domains', memberContext(organization))
      setDomains(found.domains)
    },
  }
  useEffect(() => void doing.perform(read), [])

  const updateDomain = (changed: OrganizationDomain) =>
    setDomains(domains?.map((each) => (each.domainId === changed.domainId ? changed : each)))
  const removeDomain = ({ domainId }: OrganizationDomain) =>
    setDomains(domains?.filter((each) => each.domainId !== domainId))
  return (
    <section class="step">
      <h1>{words.sections.domains}</h1>
      <p>{words.domains.what}</p>
      {domains === undefined && (doing.problem === undefined ? <Spinner /> : <Actions of={[read]} doing={doing} />)}
      {domains && (
        <>
          <ul class="entries">
            {domains.map((each) => (
              <Domain
                key={each.domainId}
                of={each}
                organization={organization}
                onChanged={updateDomain}
                onStale={read.do}
                onRemoved={() => removeDomain(each)}
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
