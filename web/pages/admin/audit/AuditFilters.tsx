import type { TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import { Filter, Search } from '../../../components/ui/Table.tsx'
import { actors, type AppliedFilter, applyFilter, noFilter, periods, results, type Written } from './filter.ts'
import { useAuditMessages } from './words.ts'

type Props = { applied: AppliedFilter; onApply: (applied: AppliedFilter) => void }

/** Asks which events to show. */
export function AuditFilters({ applied, onApply }: Props) {
  const { filter: words } = useAuditMessages()
  const [written, setWritten] = useState(applied.written)
  const change = (changed: Partial<Written>) => setWritten({ ...written, ...changed })
  const apply = (entered: Written) => {
    setWritten(entered)
    onApply(applyFilter(entered, new Date()))
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
      <div class="choices">
        <Filter
          label={words.actor}
          of={actors.map((value) => ({ value, label: words.actors[value] }))}
          chosen={written.actor}
          onChoose={(actor) => apply({ ...written, actor })}
        />
        <Filter
          label={words.result}
          of={results.map((value) => ({ value, label: words.results[value] }))}
          chosen={written.result}
          onChoose={(result) => apply({ ...written, result })}
        />
        <Filter
          label={words.period}
          of={periods.map((value) => ({ value, label: words.periods[value] }))}
          chosen={written.period}
          onChoose={(period) => apply({ ...written, period })}
        />
        <button type="submit" class="button" data-action="filter-events">
          {words.apply}
        </button>
        {Object.keys(applied.filter).length > 0 && (
          <button
            type="button"
            class="button ghost"
            data-action="clear-filters"
            onClick={({ currentTarget }) => {
              // The button that has the focus goes away.
              currentTarget.form?.querySelector('input')?.focus()
              apply(noFilter.written)
            }}
          >
            {words.clear}
          </button>
        )}
      </div>
    </form>
  )
}
