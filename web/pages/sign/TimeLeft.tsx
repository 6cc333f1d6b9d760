import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { useMessages } from '../../components/frame/Root.tsx'
import { useEffect, useRef, useState } from 'preact/hooks'
import { readPageData } from '../../lib/page-data.ts'

type Props = { organization: NonNullable<SigningRequest['organization']> }

/** Shows who has signed and approved for an organization, and how many approvals are required. */
export function Progress({ organization: { answers, approvals, approvalsNeeded } }: Props) {
  const { ofOrganization: words } = useMessages().sign
  return (
    <div class="progress">
      {approvalsNeeded > 0 && <p>{words.approvals(approvals, approvalsNeeded)}</p>}
      {answers.length > 0 && (
        <ul>
          {answers.map(({ memberId, handle, role }) => (
            <li key={memberId}>{words.did[role](handle === null ? words.somebody : `@${handle}`)}</li>
          ))}
        </ul>
      )}
    </div>
  )
}

const soonSeconds = 60

/**
 * Shows the time that is left, and announces it once when it gets short. Calls `onEnd` when it is over, unless the
 * component was removed.
 */
export function TimeLeft({ expiresAt, onEnd }: { expiresAt: string; onEnd: () => unknown }) {
  const words = useMessages().sign
  const { servedAt } = readPageData('sign')
  const read = () => secondsLeft(expiresAt, servedAt, millisecondsSinceServed())
  const [seconds, setSeconds] = useState(read)
  const end = useRef(onEnd)
  end.current = onEnd
  useEffect(() => {
    const timer = setInterval(() => {
      setSeconds(read())
      if (read() === 0) end.current()
    }, 250)
    return () => clearInterval(timer)
  }, [expiresAt])
  return (
    <p class="time-left">
      <span role="timer" aria-live="off" aria-label={words.timeLeft}>
        {formatCountdown(seconds)}
      </span>
      <span class="unseen" role="status">
        {seconds <= soonSeconds ? words.soonOver : ''}
      </span>
    </p>
  )
}

/**
 * Returns the seconds that are left by the server's clock, because clocks of devices are often minutes wrong.
 * `servedAt` is the server's time when it wrote the page, `sinceMilliseconds` the time since then.
 */
export function secondsLeft(expiresAt: string, servedAt: string, sinceMilliseconds: number): number {
  const left = Date.parse(expiresAt) - Date.parse(servedAt) - sinceMilliseconds
  return Math.max(0, Math.ceil(left / 1000))
}

/** Returns the milliseconds since the server sent this page. */
function millisecondsSinceServed(): number {
  const [navigation] = performance.getEntriesByType('navigation')
  const began = navigation instanceof PerformanceNavigationTiming ? navigation.responseStart : 0
  return performance.now() - began
}

/** Formats minutes and seconds. */
export function formatCountdown(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
