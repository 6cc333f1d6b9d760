import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { Card, Skeleton } from '../../../components/ui/Card.tsx'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
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

  // Another domain may have changed since a check or a removal began.
  const updateDomain = (changed: OrganizationDomain) =>
    setDomains((present) => present?.map((each) => (each.domainId === changed.domainId ? changed : each)))
  const removeDomain = ({ domainId }: OrganizationDomain) =>
    setDomains((present) => present?.filter((each) => each.domainId !== domainId))
  return (
    <>
      <PageHead title={words.sections.domains} lead={words.domains.what} />
      {domains === undefined && (
        <Card flush>{doing.problem === undefined ? <Skeleton rows={2} /> : <Actions of={[read]} doing={doing} />}</Card>
      )}
      {domains && (
        <>
          {domains.length > 0 && (
            <Card flush>
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
            </Card>
          )}
          <Card>
            <NewDomain
              organization={organization}
              isFirst={domains.length === 0}
              onClaimed={(claimed) =>
                // The list may have it already, if it was read meanwhile.
                setDomains((present = []) => [
                  claimed,
                  ...present.filter(({ domainId }) => domainId !== claimed.domainId),
                ])
              }
            />
          </Card>
        </>
      )}
    </>
  )
}
