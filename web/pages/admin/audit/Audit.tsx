import { PageHead } from '../../../components/frame/Frame.tsx'
import { Tabs } from '../../../components/ui/Tabs.tsx'
import { useOperator } from '../acting/operator.ts'
import { routePath, type SectionProps } from '../routes.ts'
import { AuditLog } from './AuditLog.tsx'
import { Sinks } from './sinks/Sinks.tsx'
import { useSinksMessages } from './sinks/words.ts'
import { useAuditMessages } from './words.ts'

/** The audit log, and the receivers to which it is sent. */
export function Audit({ place, goTo }: SectionProps) {
  const words = useAuditMessages()
  const sinks = useSinksMessages()
  const { may } = useOperator()
  const isSinks = place.id === 'sinks'
  const tabs = [undefined, 'sinks'].map((id) => {
    const to = { section: 'audit', id } as const
    return {
      label: id === undefined ? words.events : sinks.title,
      href: routePath(to),
      current: isSinks === (id === 'sinks'),
      onFollow: () => goTo(to),
      action: `tab-${id ?? 'events'}`,
    }
  })
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      {(may('sinks.manage') || isSinks) && <Tabs label={words.title} tabs={tabs} />}
      {isSinks ? <Sinks /> : <AuditLog goTo={goTo} />}
    </>
  )
}
