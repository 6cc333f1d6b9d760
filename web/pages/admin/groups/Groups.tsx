/* oxlint-disable react/no-unstable-nested-components -- Cells are functions that the table calls, no components. */
import type { Group } from '@countersign/protocol/accounts/groups'
import { useState } from 'preact/hooks'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { type Column, Table } from '../../../components/ui/Table.tsx'
import { formatNumber } from '../../../lib/text/dates.ts'
import { useOperator } from '../acting/operator.ts'
import { ListFoot } from '../reading/More.tsx'
import { Reading } from '../reading/Reading.tsx'
import { useList } from '../reading/use-list.ts'
import { type Navigate, routePath, type SectionProps } from '../routes.ts'
import { GroupPage } from './GroupPage.tsx'
import { NewGroup } from './NewGroup.tsx'
import { ProtectedChip } from './protection.tsx'
import { useGroupsMessages } from './words.ts'

/** Lists the groups, or shows the one that is open. */
export function Groups({ place, goTo }: SectionProps) {
  return place.id === undefined ? (
    <GroupList goTo={goTo} />
  ) : (
    <GroupPage key={place.id} groupId={place.id} goTo={goTo} />
  )
}

function GroupList({ goTo }: { goTo: Navigate }) {
  const words = useGroupsMessages()
  const { ask, may } = useOperator()
  const [isNew, setNew] = useState(false)
  const groups = useList<Group>(async (cursor) => {
    const page = await ask('GET /api/admin/groups', { querystring: cursor === undefined ? {} : { cursor } })
    return { items: page.groups, nextCursor: page.nextCursor }
  }, [])
  const create = may('groups.manage') && (
    <button type="button" class="button primary" data-action="new-group" onClick={() => setNew(true)}>
      <Icon name="plus" size="sm" />
      {words.add}
    </button>
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead} actions={create} />
      <Card flush>
        <Reading of={groups}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty icon="users" title={words.none} level={2}>
                <p>{words.example}</p>
              </Empty>
            ) : (
              <GroupTable groups={items} goTo={goTo} />
            )
          }
        </Reading>
        <ListFoot of={groups} />
      </Card>
      {isNew && (
        <NewGroup onClose={() => setNew(false)} onCreated={({ groupId }) => goTo({ section: 'groups', id: groupId })} />
      )}
    </>
  )
}

function GroupTable({ groups, goTo }: { groups: Group[]; goTo: Navigate }) {
  const words = useGroupsMessages()
  const columns: Column<Group>[] = [
    {
      key: 'name',
      label: words.name,
      cell: ({ groupId, displayName, protected: isProtected }) => {
        const opened = { section: 'groups', id: groupId } as const
        return (
          <span class="row">
            <RouteLink class="row-link" href={routePath(opened)} action="open-group" onFollow={() => goTo(opened)}>
              <strong>{displayName}</strong>
            </RouteLink>
            {isProtected && <ProtectedChip />}
          </span>
        )
      },
    },
    { key: 'key', label: words.key, cell: ({ key }) => <code dir="ltr">{key}</code> },
    { key: 'members', label: words.members, cell: ({ memberCount }) => formatNumber(memberCount) },
  ]
  return <Table caption={words.title} columns={columns} rows={groups} keyOf={({ groupId }) => groupId} />
}
