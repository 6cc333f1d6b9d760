import type { Leaving } from '@countersign/protocol/pages'
import { useEffect } from 'preact/hooks'
import { leave } from '../leave.ts'
import { placeOf } from '../place.ts'
import { Frame } from '../ui/Frame.tsx'
import { useWords } from '../ui/Root.tsx'
import { Unfinished } from '../ui/Unfinished.tsx'
import { readView } from '../view.ts'

/** The end of a request that was decided before anything was asked. */
export function Return() {
  const { unfinished } = useWords()
  const { leaving, unverified } = readView('return')
  if (!unverified) return <Posting leaving={leaving} />
  return (
    <Frame title={unfinished.title}>
      <section class="step">
        <Unfinished {...unverified} leaving={leaving} />
      </section>
    </Frame>
  )
}

/** The moment in which the answer is posted to the app. */
function Posting({ leaving }: { leaving: Leaving }) {
  const words = useWords().signin
  useEffect(() => leave(leaving), [])
  return (
    <Frame title={words.leaving(placeOf(leaving.url))}>
      <section class="step">
        <p role="status">{words.leaving(placeOf(leaving.url))}</p>
      </section>
    </Frame>
  )
}
