import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { Spinner } from '../../../components/display/Facts.tsx'
import { callBusiness, useReauthenticatedDialog } from '../session/session.ts'
import { memberContext } from '../session/membership.ts'
import { NewSsoConnection } from './NewSsoConnection.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { RequireSso } from './RequireSso.tsx'
import { SsoConnectionEntry } from './SsoConnectionEntry.tsx'
import { useBusinessMessages } from '../words.ts'

type Found = { connections: SsoConnection[]; domains: string[] }

/** Lists the SSO connections of an organization. */
export function SsoConnections({ organization, onChanged }: SectionProps) {
  const words = useBusinessMessages()
  const doing = useActions()
  const beginning = useActions()
  const adding = useReauthenticatedDialog('new-connection')
  const [found, setFound] = useState<Found>()
  const read: Action = { name: 'retry', label: words.retry, do: async () => setFound(await readAll(organization)) }
  useEffect(() => void doing.perform(read), [])

  const look = found?.connections.length === 0 ? 'primary' : 'secondary'
  const add: Action = { name: 'add-connection', label: words.sso.add, look, do: adding.open }
  return (
    <section class="step">
      <h1>{words.sections.sso}</h1>
      <p>{words.sso.what}</p>
      {found === undefined && (doing.problem === undefined ? <Spinner /> : <Actions of={[read]} doing={doing} />)}
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
          {adding.isOpen ? (
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

/** Reads the connections, and the domains that they may have. */
async function readAll(organization: SectionProps['organization']): Promise<Found> {
  const given = memberContext(organization)
  const [{ connections }, { domains }] = await Promise.all([
    callBusiness('GET /api/organizations/:organizationId/sso-connections', given),
    callBusiness('GET /api/organizations/:organizationId/domains', given),
  ])
  const verified = domains.filter(({ status }) => status !== 'pending').map(({ domain }) => domain)
  return { connections, domains: verified }
}
