import type { NextSsoConnection, SsoConnection } from '@countersign/protocol/organizations/sso'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { Card, Empty, Skeleton } from '../../../components/ui/Card.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useEffect, useState } from 'preact/hooks'
import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { callBusiness, useReauthenticatedDialog } from '../session/session.ts'
import { memberContext } from '../session/membership.ts'
import { NewSsoConnection } from './NewSsoConnection.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { RequireSso } from './RequireSso.tsx'
import { SsoConnectionEntry } from './SsoConnectionEntry.tsx'
import { useBusinessMessages } from '../words.ts'

type Found = { connections: SsoConnection[]; next: NextSsoConnection; domains: string[] }

/** Lists the SSO connections of an organization. */
export function SsoConnections({ organization, onChanged, goTo }: SectionProps) {
  const words = useBusinessMessages()
  const doing = useActions()
  const beginning = useActions()
  const adding = useReauthenticatedDialog('new-connection')
  const [found, setFound] = useState<Found>()
  const read: Action = { name: 'retry', label: words.retry, do: async () => setFound(await readAll(organization)) }
  useEffect(() => {
    // Directories were in this section before they had their own.
    if (location.hash.startsWith('#directory-'))
      return goTo({ at: 'organization', organizationId: organization.id, section: 'directory' }, { replacing: true })
    void doing.perform(read)
  }, [])

  const look = found?.connections.length === 0 ? 'primary' : 'secondary'
  const add: Action = { name: 'add-connection', label: words.sso.add, look, do: adding.open }
  return (
    <>
      <PageHead
        title={words.sections.sso}
        lead={words.sso.what}
        actions={found && !adding.isOpen && <ActionButton action={add} doing={beginning} />}
      />
      <ErrorMessage of={beginning.problem} />
      {found === undefined && (
        <Card flush>{doing.problem === undefined ? <Skeleton rows={2} /> : <Actions of={[read]} doing={doing} />}</Card>
      )}
      {found && (
        <>
          {adding.isOpen && (
            <Card>
              <NewSsoConnection
                organization={organization}
                domains={found.domains}
                next={found.next}
                onClose={adding.close}
                onCreated={async () => {
                  adding.close()
                  await read.do()
                }}
              />
            </Card>
          )}
          {found.connections.length === 0 && !adding.isOpen && (
            <Card>
              <Empty icon="log-in" title={words.sso.none} level={2}>
                <p>{words.sso.noneWhat}</p>
              </Empty>
            </Card>
          )}
          {found.connections.length > 0 && <List of={found} organization={organization} onChanged={read.do} />}
          {found.connections.some(({ inUse }) => inUse) && (
            <RequireSso organization={organization} onChanged={onChanged} />
          )}
        </>
      )}
    </>
  )
}

type ListProps = Pick<SectionProps, 'organization'> & { of: Found; onChanged: () => unknown }

function List({ of: { connections, domains }, organization, onChanged }: ListProps) {
  return (
    <Card flush>
      <ul class="entries">
        {connections.map((each) => (
          <SsoConnectionEntry
            key={each.connectionId}
            of={each}
            domains={domains}
            organization={organization}
            onChanged={onChanged}
          />
        ))}
      </ul>
    </Card>
  )
}

/** Reads the connections, and the domains that they may have. */
async function readAll(organization: SectionProps['organization']): Promise<Found> {
  const given = memberContext(organization)
  const [{ connections, next }, { domains }] = await Promise.all([
    callBusiness('GET /api/organizations/:organizationId/sso-connections', given),
    callBusiness('GET /api/organizations/:organizationId/domains', given),
  ])
  const verified = domains.filter(({ status }) => status !== 'pending').map(({ domain }) => domain)
  return { connections, next, domains: verified }
}
