import { useState } from 'preact/hooks'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { Tabs } from '../../../components/ui/Tabs.tsx'
import { useOperator } from '../acting/operator.ts'
import { routePath, type SectionProps } from '../routes.ts'
import { AuditLog } from './AuditLog.tsx'
import { ExportMenu } from './ExportMenu.tsx'
import { type AppliedFilter, noFilter } from './filter.ts'
import { Sinks } from './sinks/Sinks.tsx'
import { useSinksMessages } from './sinks/words.ts'
import { Webhooks } from './webhooks/Webhooks.tsx'
import { useWebhooksMessages } from './webhooks/words.ts'
import { useAuditMessages } from './words.ts'

/** The audit log, the receivers to which it is sent, and those of events. */
export function Audit({ place, goTo }: SectionProps) {
  const words = useAuditMessages()
  const labels = { events: words.events, sinks: useSinksMessages().title, webhooks: useWebhooksMessages().title }
  const { may } = useOperator()
  const [applied, setApplied] = useState(noFilter)
  const exporting = useActions()
  const shown = place.id === 'sinks' || place.id === 'webhooks' ? place.id : 'events'
  const tabs = (['events', 'sinks', 'webhooks'] as const).map((tab) => {
    const to = { section: 'audit', id: tab === 'events' ? undefined : tab } as const
    return {
      label: labels[tab],
      href: routePath(to),
      current: tab === shown,
      onFollow: () => goTo(to),
      action: `tab-${tab}`,
    }
  })
  const apply = (filter: AppliedFilter) => {
    setApplied(filter)
    exporting.forgive()
  }
  const isExported = shown === 'events' && may('audit.export')
  return (
    <>
      <PageHead
        title={words.title}
        lead={words.lead}
        actions={isExported ? <ExportMenu filter={applied.filter} doing={exporting} /> : undefined}
      />
      {isExported && <ErrorMessage of={exporting.problem} />}
      {(may('sinks.manage') || shown !== 'events') && <Tabs label={words.title} tabs={tabs} />}
      {shown === 'events' && <AuditLog goTo={goTo} applied={applied} onApply={apply} />}
      {shown === 'sinks' && <Sinks />}
      {shown === 'webhooks' && <Webhooks />}
    </>
  )
}
