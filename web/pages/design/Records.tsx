import { useState } from 'preact/hooks'
import { BarChart, Spark } from '../../components/charts/Chart.tsx'
import { Avatar, Person } from '../../components/ui/Avatar.tsx'
import { Card, Empty } from '../../components/ui/Card.tsx'
import { Chip } from '../../components/ui/Chip.tsx'
import { Menu } from '../../components/ui/Menu.tsx'
import { type Column, Filter, Pager, Search, Table } from '../../components/ui/Table.tsx'
import { TimelineDay, TimelineEvent } from '../../components/ui/Timeline.tsx'

const people = [
  { name: 'Ada Lovelace', handle: 'ada', role: 'Owner', seen: 'Now' },
  { name: 'Jonas Wieland', handle: 'jonas', role: 'Admin', seen: '2 hours ago' },
  { name: 'Tomás Ferreira', handle: 'tomas', role: 'Member', seen: '19 Nov' },
]

const roleFilters = [
  { value: 'all', label: 'All roles' },
  { value: 'Owner', label: 'Owners' },
] as const

type RoleFilter = (typeof roleFilters)[number]['value']

type Member = (typeof people)[number]

const columns: Column<Member>[] = [
  {
    key: 'name',
    label: 'Name',
    cell: ({ name, handle }) => <Person name={name} detail={`@${handle}`} avatar={<Avatar name={name} size="sm" />} />,
  },
  { key: 'role', label: 'Role', cell: (person) => <Chip>{person.role}</Chip> },
  { key: 'seen', label: 'Last seen', cell: (person) => person.seen },
  {
    key: 'more',
    label: 'Actions',
    isActions: true,
    cell: ({ name }) => (
      <Menu
        label={`More for ${name}`}
        items={[
          { label: 'Change role', icon: 'pencil', onChoose: () => {} },
          { label: 'Remove', icon: 'user-x', danger: true, onChoose: () => {} },
        ]}
      />
    ),
  },
]

/** Tables, events and charts. */
export function Records() {
  const [search, setSearch] = useState('')
  const [role, setRole] = useState<RoleFilter>('all')
  const rows = people.filter(
    (person) => person.name.toLowerCase().includes(search.toLowerCase()) && (role === 'all' || person.role === role),
  )
  const bars = [4, 7, 5, 9, 12, 8, 11].map((good, day) => ({ label: `${day}`, good, bad: day % 3 }))
  return (
    <>
      <Card title="Members" flush>
        <div class="toolbar">
          <Search label="Search members" value={search} onInput={setSearch} />
          <Filter label="Role" of={[...roleFilters]} chosen={role} onChoose={setRole} />
        </div>
        {rows.length === 0 ? (
          <Empty icon="users" title="No member matches" />
        ) : (
          <Table caption="Members" columns={columns} rows={rows} keyOf={({ handle }) => handle} />
        )}
        <Pager onNext={() => {}}>{`1–${rows.length} of 24`}</Pager>
      </Card>
      <Card title="Activity" flush>
        <TimelineDay title="Today">
          <TimelineEvent
            icon="signature"
            tone="ok"
            instant="2026-11-24T13:45:00Z"
            time="13:45"
            detail="Chrome on Linux"
          >
            <strong>Ada Lovelace</strong> invited <strong>mina@example.com</strong> as Member
          </TimelineEvent>
          <TimelineEvent icon="ban" tone="bad" instant="2026-11-24T08:31:00Z" time="08:31">
            <strong>Kenji Mori</strong> was refused at sign-in
          </TimelineEvent>
        </TimelineDay>
      </Card>
      <Card title="Sign-ins">
        <BarChart bars={bars} label="Between 4 and 12 sign-ins a day" axis={['18 Nov', '24 Nov']} />
        <Spark values={bars.map(({ good }) => good)} label="Sign-ins a day" />
      </Card>
    </>
  )
}
