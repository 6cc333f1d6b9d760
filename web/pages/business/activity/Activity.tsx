import { useActivityMessages } from '../../../components/display/activity-words.ts'
import { useState } from 'preact/hooks'
import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useLatestRead } from '../../../components/form/use-latest-read.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { Card, Empty, Skeleton } from '../../../components/ui/Card.tsx'
import { Menu } from '../../../components/ui/Menu.tsx'
import { Filter, Search } from '../../../components/ui/Table.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { downloadFile } from '../../../lib/download.ts'
import type { SectionProps } from '../OrganizationPage.tsx'
import { memberContext } from '../session/membership.ts'
import { callBusinessForText } from '../session/session.ts'
import { useBusinessMessages } from '../words.ts'
import { Events } from './Events.tsx'
import { type EventFilter, type EventPage, kinds, noFilter, periods, queryOf, readEvents } from './read-events.ts'
import { plainText, sentenceOf } from './sentence.ts'
import { usePeople } from './use-people.ts'
import { useOrganizationActivityMessages } from './words.ts'
import './activity.css'

const formats = { csv: 'text/csv', jsonl: 'application/jsonl' } as const

type Props = Pick<SectionProps, 'organization'>

/** Shows the audit log of an organization page by page, with the proofs of what was signed, and exports it. */
export function Activity({ organization }: Props) {
  const words = useOrganizationActivityMessages()
  const { trail, retry, roles } = useBusinessMessages()
  const { activity: recorded } = useActivityMessages()
  const [filter, setFilter] = useState(noFilter)
  const [search, setSearch] = useState('')
  const [shown, setShown] = useState<{ filter: EventFilter; page: EventPage }>()
  const page = shown?.filter === filter ? shown.page : undefined
  const { doing, readAgain } = useLatestRead(
    { read: () => readEvents(organization, filter, {}), onRead: (first) => setShown({ filter, page: first }) },
    [filter],
  )
  const more: Action = {
    name: 'more',
    label: words.earlier,
    look: 'secondary',
    do: async () => {
      const longer = await readEvents(organization, filter, { shown: page })
      // A late answer for another filter is not shown.
      setShown((current) => (current?.filter === filter ? { filter, page: longer } : current))
    },
  }
  const texts = { activity: words, roles, names: recorded.acts }
  const searched = search.trim().toLocaleLowerCase()
  const entries = page?.entries.filter((entry) =>
    `${plainText(sentenceOf(entry, page.people, texts))} @${entry.handle}`.toLocaleLowerCase().includes(searched),
  )
  const people = usePeople(organization, page)
  const again: Action = { name: 'retry', label: retry, look: 'secondary', do: readAgain }
  return (
    <>
      <Head organization={organization} filter={filter} />
      <Toolbar people={people} filter={filter} onFilter={setFilter} search={search} onSearch={setSearch} />
      <Card flush>
        {!page && (doing.problem === undefined ? <Skeleton rows={6} /> : <Actions of={[again]} doing={doing} />)}
        {page && entries?.length === 0 && (
          <Empty icon="scroll-text" title={words.noMatch}>
            <p>{words.noMatchWhat}</p>
          </Empty>
        )}
        {page && entries && <Events organization={organization} entries={entries} people={page.people} />}
        {page && (
          <div class="card-foot">
            <span role="status">{words.shown(entries?.length ?? 0)}</span>
            {page.nextCursor !== null && <ActionButton action={more} doing={doing} />}
          </div>
        )}
      </Card>
      {page && <ErrorMessage of={doing.problem} />}
      {page && <p class="small soft">{trail.trailWhy}</p>}
    </>
  )
}

/** The title, and the exports: of the events that match, or of the whole trail. */
function Head({ organization, filter }: Props & { filter: EventFilter }) {
  const words = useOrganizationActivityMessages()
  const { sections, trail } = useBusinessMessages()
  const exporting = useActions()
  const save = (format: keyof typeof formats) => async () => {
    const { params, querystring } = memberContext(organization)
    const given = { params, querystring: { ...querystring, ...queryOf(filter, new Date()), format } }
    const text = await callBusinessForText('GET /api/organizations/:organizationId/audit/export', given)
    downloadFile(text, formats[format], `${organization.slug}.${format}`)
  }
  const saveTrail = async () => {
    const path = 'GET /api/organizations/:organizationId/trail'
    const text = await callBusinessForText(path, memberContext(organization))
    downloadFile(text, formats.jsonl, `${organization.slug}-trail.jsonl`)
  }
  const item = (name: string, label: string, work: () => Promise<void>) =>
    ({ label, icon: 'download', action: name, onChoose: () => void exporting.perform({ name, do: work }) }) as const
  const menu = (
    <Menu
      label={words.export}
      look="plain"
      action="export-activity"
      trigger={
        <span class="button">
          <Icon name="download" size="sm" />
          {words.export}
        </span>
      }
      items={[
        item('save-csv', trail.saveAs.csv, save('csv')),
        item('save-jsonl', trail.saveAs.jsonl, save('jsonl')),
        'divider',
        item('save-trail', trail.saveTrail, saveTrail),
      ]}
    />
  )
  return (
    <>
      <PageHead title={sections.activity} lead={words.lead} actions={menu} />
      <ErrorMessage of={exporting.problem} />
    </>
  )
}

type ToolbarProps = {
  people: ReturnType<typeof usePeople>
  filter: EventFilter
  onFilter: (filter: EventFilter) => void
  search: string
  onSearch: (text: string) => void
}

function Toolbar({ people, filter, onFilter, search, onSearch }: ToolbarProps) {
  const words = useOrganizationActivityMessages()
  return (
    <div class="toolbar">
      <Search label={words.search} value={search} onInput={onSearch} action="search-events" />
      <Filter
        label={words.person}
        of={[{ value: 'all', label: words.everyone }, ...people.options]}
        chosen={filter.by}
        onOpen={people.readMembers}
        action="filter-by-person"
        onChoose={(by) => onFilter({ ...filter, by })}
      />
      <Filter
        label={words.kind}
        of={kinds.map((value) => ({ value, label: words.kinds[value] }))}
        chosen={filter.kind}
        onChoose={(kind) => onFilter({ ...filter, kind })}
      />
      <Filter
        label={words.period}
        of={periods.map((value) => ({ value, label: words.periods[value] }))}
        chosen={filter.period}
        onChoose={(period) => onFilter({ ...filter, period })}
      />
    </div>
  )
}
