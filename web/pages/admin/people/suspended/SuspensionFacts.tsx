import type { AdminSuspension } from '@countersign/protocol/operations/people'
import { useLocale } from '../../../../components/frame/Root.tsx'
import { formatMoment } from '../../../../lib/text/dates.ts'
import { isolate } from '../../../../lib/text/isolate.ts'
import { usePeopleMessages } from '../words.ts'

/** Says why an identity is suspended: by operators or a directory, with its account or alone, since and until when. */
export function SuspensionFacts({ of: { source, scope, reason, suspendedAt, until } }: { of: AdminSuspension }) {
  const { suspend } = usePeopleMessages()
  const { language } = useLocale()
  const moment = (instant: string) => formatMoment(instant, language, new Date())
  const facts = [
    suspend.scopes[scope].label,
    moment(suspendedAt),
    ...(until === null ? [] : [suspend.ends(moment(until))]),
  ]
  return (
    <div>
      <strong>{source === 'operator' ? suspend.because(isolate(reason)) : suspend.byDirectory}</strong>
      <p class="small soft">{facts.join(' · ')}</p>
    </div>
  )
}
