/* oxlint-disable react/no-unstable-nested-components -- Cells are functions that the table calls, no components. */
import type { AdminOrganization } from '@countersign/protocol/organizations/operator-view'
import { useState } from 'preact/hooks'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Avatar, Person } from '../../../components/ui/Avatar.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Menu } from '../../../components/ui/Menu.tsx'
import { type Column, Table } from '../../../components/ui/Table.tsx'
import { dayOf, formatNumber } from '../../../lib/text/dates.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { ListFoot } from '../reading/More.tsx'
import { Reading } from '../reading/Reading.tsx'
import { useList } from '../reading/use-list.ts'
import { useAdminMessages } from '../words.ts'
import { useOrganizationsMessages } from './words.ts'

/** Lists the organizations, and suspends and activates them. */
export function Organizations() {
  const words = useOrganizationsMessages()
  const { ask } = useOperator()
  const [chosen, setChosen] = useState<AdminOrganization>()
  const organizations = useList<AdminOrganization>(async (cursor) => {
    const page = await ask('GET /api/admin/organizations', { querystring: cursor === undefined ? {} : { cursor } })
    return { items: page.organizations, nextCursor: page.nextCursor }
  }, [])
  const replace = (changed: AdminOrganization) => {
    const { value } = organizations
    if (!value) return
    const items = value.items.map((each) => (each.organizationId === changed.organizationId ? changed : each))
    organizations.set({ ...value, items })
  }
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <Card flush>
        <Reading of={organizations}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty icon="building" title={words.none} level={2}>
                <p>{words.noneWhat}</p>
              </Empty>
            ) : (
              <OrganizationTable organizations={items} onAsk={setChosen} />
            )
          }
        </Reading>
        <ListFoot of={organizations} />
      </Card>
      {chosen && <SetStatus organization={chosen} onChanged={replace} onClose={() => setChosen(undefined)} />}
    </>
  )
}

type TableProps = { organizations: AdminOrganization[]; onAsk: (organization: AdminOrganization) => void }

function OrganizationTable({ organizations, onAsk }: TableProps) {
  const words = useOrganizationsMessages()
  const { actions } = useAdminMessages()
  const { language } = useLocale()
  const { may } = useOperator()
  const columns: Column<AdminOrganization>[] = [
    {
      key: 'name',
      label: words.name,
      cell: ({ name, slug }) => (
        <Person
          avatar={<Avatar kind="app" size="sm" name={name} toneOf={slug} />}
          name={name}
          detail={<span dir="ltr">{slug}</span>}
        />
      ),
    },
    {
      key: 'status',
      label: words.status,
      cell: ({ status }) => <Chip tone={status === 'active' ? 'ok' : 'bad'}>{words.statuses[status]}</Chip>,
    },
    { key: 'members', label: words.members, cell: ({ members }) => formatNumber(members) },
    { key: 'owners', label: words.owners, cell: ({ owners }) => formatNumber(owners) },
    { key: 'created', label: words.created, cell: ({ createdAt }) => dayOf(createdAt, language, new Date()) },
    {
      key: 'actions',
      label: actions,
      isActions: true,
      cell: (organization) =>
        may('organizations.manage') && (
          <Menu
            label={words.menuOf(isolate(organization.name))}
            action="organization-menu"
            items={[
              organization.status === 'active'
                ? {
                    ...{ label: words.suspend, icon: 'ban', danger: true },
                    ...{ action: 'ask-suspend-organization', onChoose: () => onAsk(organization) },
                  }
                : {
                    ...{ label: words.activate, icon: 'circle-check' },
                    ...{ action: 'ask-activate-organization', onChoose: () => onAsk(organization) },
                  },
            ]}
          />
        ),
    },
  ]
  return (
    <Table
      caption={words.title}
      columns={columns}
      rows={organizations}
      keyOf={({ organizationId }) => organizationId}
    />
  )
}

type StatusProps = {
  organization: AdminOrganization
  onChanged: (organization: AdminOrganization) => void
  onClose: () => void
}

/** Suspends an active organization, or activates a suspended one. */
function SetStatus({ organization: { organizationId, name, status }, onChanged, onClose }: StatusProps) {
  const words = useOrganizationsMessages()
  const { ask } = useOperator()
  const isActive = status === 'active'
  const act = {
    name: 'set-organization-status',
    label: isActive ? words.suspend : words.activate,
    look: isActive ? 'danger' : 'primary',
    do: async () => {
      const body = { status: isActive ? 'suspended' : 'active' } as const
      const sent = { params: { organizationId }, body }
      const { organization } = await ask('PATCH /api/admin/organizations/:organizationId', sent)
      onChanged(organization)
      onClose()
      toast(isActive ? words.suspended(isolate(name)) : words.activated(isolate(name)))
    },
  } as const
  return (
    <Ask
      title={isActive ? words.suspendTitle(isolate(name)) : words.activateTitle(isolate(name))}
      act={act}
      onClose={onClose}
      command={['organizations', isActive ? 'suspend' : 'activate', organizationId]}
    >
      <p>{isActive ? words.suspendWhat : words.activateWhat}</p>
    </Ask>
  )
}
