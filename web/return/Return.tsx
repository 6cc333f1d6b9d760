import { useEffect } from 'preact/hooks'
import { leave } from '../leave.ts'
import { placeOf } from '../place.ts'
import { Frame } from '../ui/Frame.tsx'
import { useWords } from '../ui/Root.tsx'
import { readView } from '../view.ts'

/** The moment in which an answer that was decided before anything was asked is posted to the app. */
export function Return() {
  const words = useWords().signin
  const { leaving } = readView('return')
  useEffect(() => leave(leaving), [])
  return (
    <Frame title={words.leaving(placeOf(leaving.url))}>
      <section class="step">
        <p role="status">{words.leaving(placeOf(leaving.url))}</p>
      </section>
    </Frame>
  )
}
