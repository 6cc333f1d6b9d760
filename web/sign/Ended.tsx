import { useEffect } from 'preact/hooks'
import { useWords } from '../ui/Root.tsx'
import { StepHeading } from '../ui/StepHeading.tsx'
import type { End } from './steps.ts'

/** Long enough to see what happened. */
const closesAfterMilliseconds = 1500

/** What became of the request. A window that an app opened closes by itself once the app knows. */
export function Ended({ end }: { end: End }) {
  const words = useWords().sign
  useEffect(() => {
    if (!opener || end === 'expired') return
    const timer = setTimeout(() => close(), closesAfterMilliseconds)
    return () => clearTimeout(timer)
  }, [end])
  return (
    <section class={`step ended ${end}`}>
      <StepHeading>{words.ends[end]}</StepHeading>
      <p>{words.endsWhat[end]}</p>
      {parent === self && <p class="lead">{words.closeThis}</p>}
    </section>
  )
}
