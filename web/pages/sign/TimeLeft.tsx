import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { useLocale, useMessages } from '../../components/signature/sign-words.ts'
import { Icon } from '../../components/ui/Icon.tsx'
import { useEffect, useRef, useState } from 'preact/hooks'
import { readPageData } from '../../lib/page-data.ts'
import { timeLeft } from '../../lib/text/time-left.ts'
import { atHandle } from '../../lib/text/handle.ts'
import { formatNumber } from '../../lib/text/dates.ts'

type Props = { organization: NonNullable<SigningRequest['organization']> }

/** Shows who has signed and approved for an organization, and how many approvals are required. */
export function Progress({ organization: { answers, approvals, approvalsNeeded } }: Props) {
  const { ofOrganization: words } = useMessages().sign
  return (
    <div class="boxed stack tight">
      {approvalsNeeded > 0 && <p class="strong">{words.approvals(approvals, approvalsNeeded)}</p>}
      {answers.length > 0 && (
        <ul class="stack tight">
          {answers.map(({ memberId, handle, role }) => (
            <li key={memberId} class="with-icon">
              <Icon name="signature" size="sm" class="pen" />
              {words.did[role](handle === null ? words.somebody : atHandle(handle))}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const soonSeconds = 60
const hourSeconds = 3600

/**
 * Shows the time that is left, and announces it once when it gets short. Calls `onEnd` when it is over, unless the
 * component was removed.
 */
export function TimeLeft({ expiresAt, onEnd }: { expiresAt: string; onEnd: () => unknown }) {
  const {
    words: { sign: words },
    language,
  } = useLocale()
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
    <p class="chip wait num time-left">
      <Icon name="clock" size="sm" />
      <span role="timer" aria-live="off" aria-label={words.timeLeft}>
        {words.left(seconds < hourSeconds ? formatCountdown(seconds) : timeLeft(seconds, language))}
      </span>
      <span class="vh" role="status">
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

/** Formats minutes and seconds with two digits each, so that the text does not move when the tenth minute begins. */
export function formatCountdown(seconds: number): string {
  return [Math.floor(seconds / 60), seconds % 60].map(twoDigits).join(':')
}

function twoDigits(value: number): string {
  return `${value < 10 ? formatNumber(0) : ''}${formatNumber(value)}`
}
