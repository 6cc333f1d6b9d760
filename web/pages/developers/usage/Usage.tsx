import type { AppUsage } from '@countersign/protocol/clients/usage'
import { momentOf } from '../../../lib/text/dates.ts'
import { localeOf } from '../../../locales/locale.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Card, Empty, Skeleton } from '../../../components/ui/Card.tsx'
import { BarChart } from '../../../components/charts/Chart.tsx'
import { Table } from '../../../components/ui/Table.tsx'
import { useLocale, useMessages } from '../words.ts'
import type { LiveUsage } from './use-usage.ts'

/** Shows how often people signed in to an app, and how often its requests failed. */
export function Usage({ usage: { current, doing, read } }: { usage: LiveUsage }) {
  const words = useMessages()
  const retry = { name: 'retry', label: words.developers.retry, do: read }
  if (!current)
    return (
      <Card title={words.usage.title}>
        {doing.problem === undefined ? <Skeleton /> : <Actions of={[retry]} doing={doing} />}
      </Card>
    )
  return (
    <>
      <SignIns days={current.days} />
      <Errors errors={current.errors} />
    </>
  )
}

function SignIns({ days }: Pick<AppUsage, 'days'>) {
  const { words, language } = useLocale()
  const signIns = days.reduce((sum, { signInCount }) => sum + signInCount, 0)
  const failures = days.reduce((sum, { errorCount }) => sum + errorCount, 0)
  // Days are in UTC, like the counts of the service.
  const format = new Intl.DateTimeFormat(localeOf(language), { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const count = new Intl.NumberFormat(localeOf(language))
  const axis = [0, 10, 20, days.length - 1].flatMap((index) => days[index]?.day ?? [])
  const about = words.usage.summary(count.format(signIns), count.format(failures))
  return (
    <Card title={words.usage.title} foot={words.usage.utc}>
      <dl class="stats">
        <div>
          <dt>{words.usage.signIns}</dt>
          <dd>{count.format(signIns)}</dd>
        </div>
        <div>
          <dt>{words.usage.errors}</dt>
          <dd>{count.format(failures)}</dd>
        </div>
      </dl>
      {signIns + failures === 0 ? (
        <Empty icon="activity" title={words.usage.none} />
      ) : (
        <>
          <BarChart
            bars={days.map(({ day, signInCount, errorCount }) => ({ label: day, good: signInCount, bad: errorCount }))}
            label={about}
            axis={axis.map((day) => format.format(new Date(day)))}
          />
          <p class="legend">
            <span>{words.usage.signIns}</span>
            <span class="bad">{words.usage.errors}</span>
          </p>
        </>
      )}
    </Card>
  )
}

function Errors({ errors }: Pick<AppUsage, 'errors'>) {
  const { words, language } = useLocale()
  const count = new Intl.NumberFormat(localeOf(language))
  if (errors.length === 0)
    return (
      <Card title={words.usage.errors}>
        <Empty icon="circle-check" title={words.usage.noErrors} />
      </Card>
    )
  return (
    <Card title={words.usage.errors} flush>
      <Table
        caption={words.usage.errors}
        rows={errors}
        keyOf={({ error }) => error}
        columns={[
          {
            key: 'error',
            label: words.usage.error,
            cell: (row) => errorCell(row.error, words.usage.reasons[row.error]),
          },
          { key: 'count', label: words.usage.count, cell: ({ count: times }) => count.format(times) },
          { key: 'last', label: words.usage.last, cell: ({ lastAt }) => momentOf(lastAt, language) },
        ]}
      />
    </Card>
  )
}

function errorCell(error: string, reason: string) {
  return (
    <>
      <code>{error}</code>
      <p class="small soft">{reason}</p>
    </>
  )
}
