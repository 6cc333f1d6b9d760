import { useEffect, useRef, useState } from 'preact/hooks'
import { useWords } from '../../components/frame/Root.tsx'
import { readView } from '../../lib/view.ts'
import { asClock, millisecondsSinceServed, secondsLeft } from './time-left.ts'

const soonSeconds = 60

/**
 * The time left, which runs before the eyes, and is said aloud once: when it gets short. `onEnd` is called when it is
 * over, for as long as this is shown.
 */
export function TimeLeft({ expiresAt, onEnd }: { expiresAt: string; onEnd: () => unknown }) {
  const words = useWords().sign
  const { servedAt } = readView('sign')
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
        {asClock(seconds)}
      </span>
      <span class="unseen" role="status">
        {seconds <= soonSeconds ? words.soonOver : ''}
      </span>
    </p>
  )
}
