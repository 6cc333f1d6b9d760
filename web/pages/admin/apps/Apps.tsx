/* oxlint-disable react/no-unstable-nested-components -- Cells are functions that the table calls, no components. */
import type { App } from '@countersign/protocol/clients/apps'
import { useState } from 'preact/hooks'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Avatar, Person } from '../../../components/ui/Avatar.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { type Column, Table } from '../../../components/ui/Table.tsx'
import { isolate } from '../../../lib/text/isolate.ts'
import { useOperator } from '../acting/operator.ts'
import { ListFoot } from '../reading/More.tsx'
import { Reading } from '../reading/Reading.tsx'
import { useList } from '../reading/use-list.ts'
import { type Navigate, routePath, type SectionProps } from '../routes.ts'
import { AccessChip } from './AccessChip.tsx'
import { AppPage } from './AppPage.tsx'
import { EditAccess } from './EditAccess.tsx'
import { type CreatedApp, CreatedAppDialog, NewApp } from './NewApp.tsx'
import { useAppsMessages } from './words.ts'

/** Lists the apps, or shows the one that is open. */
export function Apps({ place, goTo }: SectionProps) {
  return place.id === undefined ? <AppList goTo={goTo} /> : <AppPage key={place.id} clientId={place.id} goTo={goTo} />
}

/** Lists the apps with who may use them. */
function AppList({ goTo }: { goTo: Navigate }) {
  const words = useAppsMessages()
  const { ask, may } = useOperator()
  const [edited, setEdited] = useState<App>()
  const [dialog, setDialog] = useState<'new' | CreatedApp>()
  const apps = useList<App>(async (cursor) => {
    const page = await ask('GET /api/admin/apps', { querystring: cursor === undefined ? {} : { cursor } })
    return { items: page.apps, nextCursor: page.nextCursor }
  }, [])
  const replace = (changed: App) => {
    const { value } = apps
    if (!value) return
    apps.set({ ...value, items: value.items.map((each) => (each.clientId === changed.clientId ? changed : each)) })
  }
  const create = may('apps.manage') && (
    <button type="button" class="button primary" data-action="new-app" onClick={() => setDialog('new')}>
      <Icon name="plus" size="sm" />
      {words.add}
    </button>
  )
  const created = (app: CreatedApp) => {
    setDialog(app)
    apps.again()
  }
  return (
    <>
      <PageHead title={words.title} lead={words.lead} actions={create} />
      <Card flush>
        <Reading of={apps}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty icon="app-window" title={words.none} level={2}>
                <p>{words.noneWhat}</p>
              </Empty>
            ) : (
              <AppTable apps={items} goTo={goTo} onEdit={setEdited} />
            )
          }
        </Reading>
        <ListFoot of={apps} />
      </Card>
      {edited && <EditAccess app={edited} onChanged={replace} onClose={() => setEdited(undefined)} />}
      {dialog === 'new' && <NewApp onCreated={created} onClose={() => setDialog(undefined)} />}
      {dialog !== undefined && dialog !== 'new' && (
        <CreatedAppDialog of={dialog} onClose={() => setDialog(undefined)} />
      )}
    </>
  )
}

type TableProps = { apps: App[]; goTo: Navigate; onEdit: (app: App) => void }

function AppTable({ apps, goTo, onEdit }: TableProps) {
  const words = useAppsMessages()
  const { may } = useOperator()
  const columns: Column<App>[] = [
    {
      key: 'name',
      label: words.name,
      cell: ({ clientId, name }) => {
        const opened = { section: 'apps', id: clientId } as const
        return (
          <RouteLink class="row-link" href={routePath(opened)} action="open-app" onFollow={() => goTo(opened)}>
            <Person
              avatar={<Avatar kind="app" size="sm" name={name} toneOf={clientId} />}
              name={name}
              detail={<span dir="ltr">{clientId}</span>}
            />
          </RouteLink>
        )
      },
    },
    {
      key: 'access',
      label: words.access,
      cell: ({ access, status }) => (
        <span class="row">
          <AccessChip mode={access.mode} />
          {status === 'disabled' && <Chip tone="bad">{words.disabled}</Chip>}
        </span>
      ),
    },
    {
      key: 'groups',
      label: words.roles.ofGroups,
      cell: ({ access: { groups, organizations } }) =>
        groups.length + organizations.length === 0 ? (
          <span class="soft">{words.noGroups}</span>
        ) : (
          <code dir="ltr">{[...groups, ...organizations].join(' ')}</code>
        ),
    },
    { key: 'contact', label: words.contact, cell: ({ access }) => access.contact ?? words.noContact },
    {
      key: 'actions',
      label: words.change,
      isActions: true,
      cell: (app) =>
        may('apps.manage') && (
          <button
            type="button"
            class="button square ghost"
            aria-label={words.accessOf(isolate(app.name))}
            data-action="edit-access"
            onClick={() => onEdit(app)}
          >
            <Icon name="pencil" />
          </button>
        ),
    },
  ]
  return <Table caption={words.title} columns={columns} rows={apps} keyOf={({ clientId }) => clientId} />
}
