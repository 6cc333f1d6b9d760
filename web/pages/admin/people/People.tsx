/* oxlint-disable react/no-unstable-nested-components -- Cells are functions that the table calls, no components. */
import type { AdminIdentity } from '@countersign/protocol/operations/people'
import { useState } from 'preact/hooks'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Avatar, Person } from '../../../components/ui/Avatar.tsx'
import { Empty } from '../../../components/ui/Card.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { type Column, Filter, Search, Table } from '../../../components/ui/Table.tsx'
import { formatDayAlone, formatNumber } from '../../../lib/text/dates.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { useOperator } from '../acting/operator.ts'
import { IssuedLink } from '../invitations/InvitationDialogs.tsx'
import { Reading } from '../reading/Reading.tsx'
import { routePath, type SectionProps } from '../routes.ts'
import { Identity } from './Identity.tsx'
import { NewPerson } from './invited/NewPerson.tsx'
import { StatusChip } from './StatusChip.tsx'
import { useGroupKeys } from './use-group-keys.ts'
import { type PeopleFilter, type PeoplePage, usePeople } from './use-people.ts'
import { usePeopleMessages } from './words.ts'

const statuses = ['all', 'invited', 'active', 'recovering', 'suspended', 'deletion_scheduled'] as const

/** Finds identities, and shows the one that is open. */
export function People({ place, goTo }: SectionProps) {
  const words = usePeopleMessages()
  const [filter, setFilter] = useState<PeopleFilter>({ q: '', status: 'all', group: '' })
  const { may } = useOperator()
  const groupKeys = useGroupKeys()
  const people = usePeople(filter)
  const change = (changed: Partial<PeopleFilter>) => setFilter({ ...filter, ...changed })
  const [dialog, setDialog] = useState<'new' | { url: string }>()
  const close = () => setDialog(undefined)
  const added = (url: string | undefined) => {
    setDialog(url === undefined ? undefined : { url })
    people.again()
  }
  const deleted = () => {
    goTo({ section: 'people' })
    people.again()
  }
  const create = may('people.invite') && (
    <button type="button" class="button primary" data-action="new-person" onClick={() => setDialog('new')}>
      <Icon name="plus" size="sm" />
      {words.add}
    </button>
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead} actions={create} />
      <div class="people-split">
        <section class="card flush" aria-label={words.title}>
          <div class="toolbar">
            <Search label={words.search} value={filter.q} onInput={(q) => change({ q })} action="search-people" />
            <Filter
              label={words.status}
              of={statuses.map((value) => ({ value, label: words.statuses[value] }))}
              chosen={filter.status}
              onChoose={(status) => change({ status })}
            />
            {may('groups.read') && (
              <Filter
                label={words.group}
                of={[{ value: '', label: words.allGroups }, ...groupKeys.map((key) => ({ value: key, label: key }))]}
                chosen={filter.group}
                onChoose={(group) => change({ group })}
              />
            )}
          </div>
          <Reading of={people} rows={6}>
            {(page) => <Found page={page} place={place} goTo={goTo} readMore={people.readMore} />}
          </Reading>
          {/* Lasts longer than each list, because otherwise screen readers do not announce it. */}
          <p class="vh" role="status">
            {people.value && countOf(people.value, words)}
          </p>
        </section>
        {place.id !== undefined && (
          <Identity
            key={place.id}
            identityId={place.id}
            tab={place.tab}
            goTo={goTo}
            onChanged={people.replace}
            onDeleted={deleted}
          />
        )}
      </div>
      {dialog === 'new' && <NewPerson onDone={added} onClose={close} />}
      {typeof dialog === 'object' && <IssuedLink url={dialog.url} onClose={close} />}
    </>
  )
}

type FoundProps = SectionProps & { page: PeoplePage; readMore: () => Promise<void> }

function Found({ page, place, goTo, readMore }: FoundProps) {
  const words = usePeopleMessages()
  const doing = useActions()
  const { identities, nextCursor, isShort } = page
  const more = {
    name: isShort ? 'continue-search' : 'more',
    label: isShort ? words.continueSearch : words.more,
    look: 'secondary',
    do: readMore,
  } as const
  return (
    <>
      {identities.length === 0 && nextCursor === null ? (
        <Empty icon="search" title={words.nobody}>
          <p>{words.nobodyWhat}</p>
        </Empty>
      ) : (
        <PeopleTable identities={identities} place={place} goTo={goTo} />
      )}
      <div class="card-foot">
        <span aria-hidden="true">{countOf(page, words)}</span>
        <ErrorMessage of={doing.problem} />
        {nextCursor !== null && <ActionButton action={more} doing={doing} />}
      </div>
    </>
  )
}

function countOf({ count, countIs }: PeoplePage, words: ReturnType<typeof usePeopleMessages>): string {
  return words.found(formatNumber(count), count, countIs === 'exact')
}

function PeopleTable({ identities, place, goTo }: SectionProps & { identities: AdminIdentity[] }) {
  const words = usePeopleMessages()
  const { language } = useLocale()
  const columns: Column<AdminIdentity>[] = [
    {
      key: 'name',
      label: words.columns.name,
      cell: ({ identityId, handle, displayName, avatarUrl, email }) => {
        const opened = { section: 'people', id: identityId } as const
        return (
          <Person
            avatar={<Avatar name={displayName} picture={avatarUrl} toneOf={handle} size="sm" />}
            name={
              <RouteLink class="row-link" href={routePath(opened)} action="open-identity" onFollow={() => goTo(opened)}>
                {displayName}
              </RouteLink>
            }
            detail={email === null ? atHandle(handle) : `${atHandle(handle)} · ${email}`}
          />
        )
      },
    },
    { key: 'status', label: words.status, cell: ({ status }) => <StatusChip status={status} /> },
    {
      key: 'seen',
      label: words.columns.lastSeen,
      cell: ({ lastSeenOn }) =>
        lastSeenOn === null ? words.neverSeen : formatDayAlone(lastSeenOn, language, new Date()),
    },
  ]
  return (
    <Table
      caption={words.title}
      columns={columns}
      rows={identities}
      keyOf={({ identityId }) => identityId}
      isOpen={({ identityId }) => identityId === place.id}
    />
  )
}
