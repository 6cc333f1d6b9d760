import type { ActivityEntry } from '@countersign/protocol/accounts/account'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatDay } from '../../../lib/text/dates.ts'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { useLocale } from '../words.ts'
import { Empty, Skeleton } from '../../../components/ui/Card.tsx'
import { Filter, Search } from '../../../components/ui/Table.tsx'
import { TimelineDay } from '../../../components/ui/Timeline.tsx'
import type { SectionProps } from '../account-data.ts'
import { deviceName } from '../devices/device.ts'
import type { Section } from '../sections.ts'
import { useAccountWords } from '../words.ts'
import { ActivityEvent } from './ActivityEvent.tsx'
import { type ActivityFilter, type ActivityPage, noFilter, readActivityPage } from './activity-pages.ts'
import { groupByDay } from './grouping.ts'
import { SecureAccount } from './SecureAccount.tsx'
import { atHandle } from '../../../lib/text/handle.ts'

type Props = SectionProps & { onGo: (section: Section) => void }

/** Everything that was done with the account, by day, page by page. */
export function Activity({ data, onChange, onGo }: Props) {
  const words = useAccountWords().activity
  const { words: shared, language } = useLocale()
  const [filter, setFilter] = useState(noFilter)
  const [isForeign, setForeign] = useState(false)
  const doing = useActions()
  const { page, problem, readMore, readAgain } = useActivityPages(filter)
  const more: Action = {
    name: 'more',
    label: words.earlier,
    look: 'secondary',
    do: readMore,
  }
  const retry: Action = {
    name: 'retry',
    label: shared.account.retry,
    look: 'secondary',
    do: readAgain,
  }
  const change = (changed: Partial<ActivityFilter>) => setFilter({ ...filter, ...changed })
  const toolbar = useRef<HTMLDivElement>(null)
  const clear = () => {
    // The button that has the focus goes away.
    toolbar.current?.querySelector('input')?.focus()
    setFilter(noFilter)
  }
  const now = new Date()
  return (
    <>
      <PageHead title={shared.activity.title} lead={words.lead} />
      <div ref={toolbar}>
        <Toolbar filter={filter} data={data} onChange={change} />
      </div>
      {/* Lasts longer than each list, because otherwise screen readers do not announce it. */}
      <p class="vh" role="status">
        {page && words.shown(page.entries.length)}
      </p>
      <section class="card flush" aria-label={shared.activity.title}>
        {!page && problem === undefined && <Skeleton rows={6} />}
        {page?.entries.length === 0 && page.nextCursor === null && <NoEvent onClear={clear} />}
        {groupByDay(page?.entries ?? []).map(({ instant, groups }) => (
          <TimelineDay key={instant} title={formatDay(instant, language, now)}>
            {groups.map((group) => (
              <ActivityEvent key={group.entry.entryId} of={group} data={data} onForeign={() => setForeign(true)} />
            ))}
          </TimelineDay>
        ))}
        <ErrorMessage of={problem ?? doing.problem} />
        {page && page.nextCursor !== null && (
          <div class="card-foot">
            <span aria-hidden="true">{words.shown(page.entries.length)}</span>
            <ActionButton action={more} doing={doing} />
          </div>
        )}
        {problem !== undefined && (
          <div class="card-foot">
            <ActionButton action={retry} doing={doing} />
          </div>
        )}
      </section>
      {isForeign && <SecureAccount onChange={onChange} onGo={onGo} onClose={() => setForeign(false)} />}
    </>
  )
}

function NoEvent({ onClear }: { onClear: () => void }) {
  const words = useAccountWords().activity
  return (
    <Empty icon="search" title={words.none}>
      <p>{words.noneWhat}</p>
      <button type="button" class="button" data-action="clear-filters" onClick={onClear}>
        {words.clear}
      </button>
    </Empty>
  )
}

/** A pause in typing after which the search begins. */
const searchDelay = 200

/** Reads the events that fit a filter: the first page when the filter changes, and more on request. */
function useActivityPages(filter: ActivityFilter) {
  const [page, setPage] = useState<ActivityPage>()
  const matches = useMatches()
  const [problem, setProblem] = useState<unknown>()
  const [attempt, setAttempt] = useState(0)
  const latest = useRef(filter)
  latest.current = filter
  useEffect(() => {
    let isCurrent = true
    setPage(undefined)
    setProblem(undefined)
    const read = () =>
      readActivityPage(filter, matches, undefined).then(
        (first) => isCurrent && setPage(first),
        (error: unknown) => isCurrent && setProblem(error),
      )
    const timer = setTimeout(() => void read(), filter.search === '' ? 0 : searchDelay)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [filter, attempt])
  const readMore = async () => {
    const next = await readActivityPage(filter, matches, page?.nextCursor)
    // A late answer for other filters is not shown.
    if (latest.current === filter) setPage({ ...next, entries: [...(page?.entries ?? []), ...next.entries] })
  }
  return { page, problem, readMore, readAgain: () => setAttempt(attempt + 1) }
}

type ToolbarProps = { filter: ActivityFilter; onChange: (changed: Partial<ActivityFilter>) => void } & Pick<
  Props,
  'data'
>

function Toolbar({ filter, data, onChange }: ToolbarProps) {
  const words = useAccountWords().activity
  const { identities } = data.session
  const kinds = (['all', 'sign_in', 'apps', 'signing', 'security', 'identities', 'organizations'] as const).map(
    (value) => ({ value, label: words.kinds[value] }),
  )
  const choices = [
    { value: '', label: words.allIdentities },
    ...identities.map(({ identityId, handle }) => ({ value: String(identityId), label: atHandle(handle) })),
  ]
  return (
    <div class="toolbar">
      <Search
        label={words.search}
        value={filter.search}
        onInput={(search) => onChange({ search })}
        action="search-activity"
      />
      <Filter label={words.kind} of={kinds} chosen={filter.kind} onChoose={(kind) => onChange({ kind })} />
      {identities.length > 1 && (
        <Filter
          label={words.identity}
          of={choices}
          chosen={filter.identityId}
          onChoose={(identityId) => onChange({ identityId })}
        />
      )}
    </div>
  )
}

/** Returns what finds events by the words that the user sees. */
function useMatches() {
  const { words } = useLocale()
  const acts: Partial<Record<string, string>> = words.activity.acts
  return ({ action, appName, device }: ActivityEntry, search: string) =>
    [appName, device && deviceName(device, words), acts[action]].some((text) =>
      text?.toLocaleLowerCase().includes(search.trim().toLocaleLowerCase()),
    )
}
