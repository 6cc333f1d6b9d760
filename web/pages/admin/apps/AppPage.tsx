import type { App } from '@countersign/protocol/clients/apps'
import { useState } from 'preact/hooks'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { Facts } from '../../../components/ui/Facts.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { useOperator } from '../acting/operator.ts'
import { Reading } from '../reading/Reading.tsx'
import { useReading } from '../reading/use-reading.ts'
import { type Navigate, routePath } from '../routes.ts'
import { AccessChip } from './AccessChip.tsx'
import { AppFacts } from './AppFacts.tsx'
import { Claims } from './Claims.tsx'
import { AppDanger } from './danger/AppDanger.tsx'
import { EditAccess } from './EditAccess.tsx'
import { Roles } from './Roles.tsx'
import { useAppsMessages } from './words.ts'

type Props = { clientId: string; goTo: Navigate }

/** One app: how it is registered, who may use it, its roles, what it learns of users, and how it ends. */
export function AppPage({ clientId, goTo }: Props) {
  const words = useAppsMessages()
  const { ask, may } = useOperator()
  const params = { clientId }
  // All at once, so that no card moves the next one when it arrives.
  const read = useReading(async () => {
    const [app, roles, { claims }] = await Promise.all([
      ask('GET /api/admin/apps/:clientId', { params }),
      ask('GET /api/admin/apps/:clientId/roles', { params }),
      ask('GET /api/admin/apps/:clientId/claims', { params }),
    ])
    return { app, roles, claims }
  }, [])
  const list = { section: 'apps' } as const
  return (
    <>
      <p>
        <RouteLink class="button ghost" href={routePath(list)} action="back-to-apps" onFollow={() => goTo(list)}>
          <Icon name="arrow-left" size="sm" />
          {words.back}
        </RouteLink>
      </p>
      <Reading of={read}>
        {({ app, roles, claims }) => (
          <>
            <PageHead title={app.name} lead={<code dir="ltr">{app.clientId}</code>} />
            <AppFacts app={app} goTo={goTo} />
            <Access app={app} onChanged={(changed) => read.set({ app: changed, roles, claims })} />
            <Roles clientId={clientId} of={roles} onChanged={(changed) => read.set({ app, roles: changed, claims })} />
            <Claims clientId={clientId} of={claims} />
            {may('apps.manage') && (
              <AppDanger
                app={app}
                onChanged={(changed) => read.set({ app: changed, roles, claims })}
                onDeleted={() => goTo(list, { replacing: true })}
              />
            )}
          </>
        )}
      </Reading>
    </>
  )
}

function Access({ app, onChanged }: { app: App; onChanged: (app: App) => void }) {
  const words = useAppsMessages()
  const { may } = useOperator()
  const [isOpen, setOpen] = useState(false)
  const { mode, groups, organizations, contact } = app.access
  return (
    <Card
      title={words.access}
      actions={
        may('apps.manage') && (
          <button type="button" class="button" data-action="edit-access" onClick={() => setOpen(true)}>
            {words.change}
          </button>
        )
      }
    >
      <Facts
        of={[
          { label: words.who, value: <AccessChip mode={mode} /> },
          {
            label: words.groups,
            value: groups.length === 0 ? words.noGroups : <code dir="ltr">{groups.join(' ')}</code>,
          },
          {
            label: words.organizations,
            value:
              organizations.length === 0 ? words.noOrganizations : <code dir="ltr">{organizations.join(' ')}</code>,
          },
          { label: words.contact, value: contact ?? words.noContact },
        ]}
      />
      {isOpen && <EditAccess app={app} onChanged={onChanged} onClose={() => setOpen(false)} />}
    </Card>
  )
}
