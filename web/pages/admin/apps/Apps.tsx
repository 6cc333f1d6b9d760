/* oxlint-disable react/no-unstable-nested-components -- Cells are functions that the table calls, no components. */
import type { App } from '@countersign/protocol/clients/apps'
import { useState } from 'preact/hooks'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { Avatar, Person } from '../../../components/ui/Avatar.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Chip, type Tone } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { type Column, Table } from '../../../components/ui/Table.tsx'
import { isolate } from '../../../lib/text/isolate.ts'
import { useOperator } from '../acting/operator.ts'
import { More } from '../reading/More.tsx'
import { Reading } from '../reading/Reading.tsx'
import { useList } from '../reading/use-list.ts'
import { EditAccess } from './EditAccess.tsx'
import { type CreatedApp, CreatedAppDialog, NewApp } from './NewApp.tsx'
import { useAppsMessages } from './words.ts'

/** Lists the apps with who may use them. */
export function Apps() {
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
              <AppTable apps={items} onEdit={setEdited} />
            )
          }
        </Reading>
        <More of={apps} />
      </Card>
      {edited && <EditAccess app={edited} onChanged={replace} onClose={() => setEdited(undefined)} />}
      {dialog === 'new' && <NewApp onCreated={created} onClose={() => setDialog(undefined)} />}
      {dialog !== undefined && dialog !== 'new' && (
        <CreatedAppDialog of={dialog} onClose={() => setDialog(undefined)} />
      )}
    </>
  )
}

const tones: Record<App['access']['mode'], Tone> = { everyone: 'ok', restricted: 'wait', none: 'bad' }

function AppTable({ apps, onEdit }: { apps: App[]; onEdit: (app: App) => void }) {
  const words = useAppsMessages()
  const { may } = useOperator()
  const columns: Column<App>[] = [
    {
      key: 'name',
      label: words.name,
      cell: ({ clientId, name }) => (
        <Person
          avatar={<Avatar kind="app" size="sm" name={name} toneOf={clientId} />}
          name={name}
          detail={<span dir="ltr">{clientId}</span>}
        />
      ),
    },
    {
      key: 'access',
      label: words.access,
      cell: ({ access, status }) => (
        <span class="row">
          <Chip tone={tones[access.mode]}>{words.modes[access.mode]}</Chip>
          {status === 'disabled' && <Chip tone="bad">{words.disabled}</Chip>}
        </span>
      ),
    },
    {
      key: 'groups',
      label: words.groups,
      cell: ({ access }) =>
        access.groups.length === 0 ? (
          <span class="soft">{words.noGroups}</span>
        ) : (
          <code dir="ltr">{access.groups.join(' ')}</code>
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
