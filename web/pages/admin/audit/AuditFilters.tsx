import type { TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import { Filter, Search } from '../../../components/ui/Table.tsx'
import { useAuditMessages } from './words.ts'

const daysOf = { all: undefined, day: 1, week: 7, month: 30 } as const
const periods = ['all', 'day', 'week', 'month'] as const satisfies (keyof typeof daysOf)[]

/** What an operator has entered to find events. */
type Written = { action: string; identity: string; app: string; period: (typeof periods)[number] }

const nothing: Written = { action: '', identity: '', app: '', period: 'all' }

/** The events to show. `identity` is a username or an ID. */
export type AuditFilter = { action?: string; identity?: string; clientId?: string; from?: string }

/** Asks which events to show. */
export function AuditFilters({ onFilter }: { onFilter: (filter: AuditFilter) => void }) {
  const { filter: words } = useAuditMessages()
  const [written, setWritten] = useState(nothing)
  const [isApplied, setApplied] = useState(false)
  const change = (changed: Partial<Written>) => setWritten({ ...written, ...changed })
  const apply = (entered: Written) => {
    const filter = filterOf(entered)
    setWritten(entered)
    setApplied(Object.keys(filter).length > 0)
    onFilter(filter)
  }
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    apply(written)
  }
  return (
    <form class="toolbar audit-filters" aria-label={words.title} onSubmit={submit}>
      <Search
        label={words.action}
        value={written.action}
        onInput={(action) => change({ action })}
        action="filter-action"
      />
      <Search
        label={words.identity}
        value={written.identity}
        onInput={(identity) => change({ identity })}
        action="filter-identity"
      />
      <Search label={words.app} value={written.app} onInput={(app) => change({ app })} action="filter-app" />
      <Filter
        label={words.period}
        of={periods.map((value) => ({ value, label: words.periods[value] }))}
        chosen={written.period}
        onChoose={(period) => apply({ ...written, period })}
      />
      <button type="submit" class="button" data-action="filter-events">
        {words.apply}
      </button>
      {isApplied && (
        <button type="button" class="button ghost" data-action="clear-filters" onClick={() => apply(nothing)}>
          {words.clear}
        </button>
      )}
    </form>
  )
}

function filterOf({ action, identity, app, period }: Written): AuditFilter {
  // Names of actions have these characters only.
  const name = action.toLowerCase().replaceAll(/[^a-z_.]/g, '')
  const days = daysOf[period]
  return {
    ...(name !== '' && { action: name }),
    ...(identity.trim() !== '' && { identity: identity.trim() }),
    ...(app.trim() !== '' && { clientId: app.trim() }),
    ...(days !== undefined && { from: new Date(Date.now() - days * 86_400_000).toISOString() }),
  }
}
