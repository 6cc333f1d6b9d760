import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Waiting } from '../../../components/display/Waiting.tsx'
import { useGuardedQuestion } from '../session/asking.ts'
import { asMember } from '../session/memberships.ts'
import { NewSsoConnection } from './NewSsoConnection.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { RequireSso } from './RequireSso.tsx'
import { callBusiness } from '../session/session.ts'
import { SsoConnectionEntry } from './SsoConnectionEntry.tsx'
import { useBusinessWords } from '../words.ts'

type Found = { connections: SsoConnection[]; domains: string[] }

/** How the people of an organization sign in with what they have there already. */
export function SsoConnections({ organization, onChanged }: SectionProps) {
  const words = useBusinessWords()
  const doing = useDoing()
  const beginning = useDoing()
  const adding = useGuardedQuestion('new-connection')
  const [found, setFound] = useState<Found>()
  const read: Action = { name: 'retry', label: words.retry, do: async () => setFound(await readAll(organization)) }
  useEffect(() => void doing.perform(read), [])

  const look = found?.connections.length === 0 ? 'primary' : 'secondary'
  const add: Action = { name: 'add-connection', label: words.sso.add, look, do: adding.ask }
  return (
    <section class="step">
      <h1>{words.sections.sso}</h1>
      <p>{words.sso.what}</p>
      {found === undefined && (doing.problem === undefined ? <Waiting /> : <Actions of={[read]} doing={doing} />)}
      {found && (
        <>
          <ul class="entries">
            {found.connections.map((each) => (
              <SsoConnectionEntry
                key={each.connectionId}
                of={each}
                domains={found.domains}
                organization={organization}
                onChanged={read.do}
              />
            ))}
          </ul>
          {adding.asked ? (
            <NewSsoConnection
              organization={organization}
              domains={found.domains}
              onClose={adding.close}
              onCreated={async () => {
                adding.close()
                await read.do()
              }}
            />
          ) : (
            <Actions of={[add]} doing={beginning} />
          )}
          {found.connections.some(({ inUse }) => inUse) && (
            <RequireSso organization={organization} onChanged={onChanged} />
          )}
        </>
      )}
    </section>
  )
}

/** The connections, and the domains that they may have. */
async function readAll(organization: SectionProps['organization']): Promise<Found> {
  const given = asMember(organization)
  const [{ connections }, { domains }] = await Promise.all([
    callBusiness('GET /api/organizations/:organizationId/sso-connections', given),
    callBusiness('GET /api/organizations/:organizationId/domains', given),
  ])
  const verified = domains.filter(({ status }) => status !== 'pending').map(({ domain }) => domain)
  return { connections, domains: verified }
}
