import { Frame } from '../ui/Frame.tsx'
import { useWords } from '../ui/Root.tsx'
import { readView, startAddress } from '../view.ts'
import { explain } from './explanation.ts'

export function Fault() {
  const words = useWords()
  const view = readView('error')
  const { title, hint } = explain(view, words)
  return (
    <Frame title={title}>
      <section class="step">
        <h1>{title}</h1>
        <p class="lead">{hint}</p>
        <p>
          <a class="button secondary" href={startAddress()}>
            {words.error.home}
          </a>
        </p>
        <p class="reference">
          {words.error.reference} <code>{view.error}</code> <code>{view.requestId}</code>
        </p>
      </section>
    </Frame>
  )
}
