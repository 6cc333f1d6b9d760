import { useEffect } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import type { Doing } from '../../components/form/doing.ts'
import { useWords } from '../../components/frame/Root.tsx'
import { readView } from '../../lib/view.ts'
import { readAnswer } from './answer.ts'
import type { Event } from './steps.ts'

/** Sends the person from a frame to a window of ours, and takes the answer from there to the page around. */
export function InAWindow({ doing, onAnswered }: { doing: Doing; onAnswered: (event: Event) => void }) {
  const words = useWords().sign
  const { requestId, framedBy } = readView('sign')
  useEffect(() => {
    const take = ({ origin, data }: MessageEvent) => {
      const answer = origin === location.origin ? readAnswer(data, requestId) : undefined
      if (answer) onAnswered({ type: 'answered in a window', answer, origins: framedBy })
    }
    addEventListener('message', take)
    return () => removeEventListener('message', take)
  }, [])
  return (
    <section class="step">
      <h1>{words.title}</h1>
      <p>{words.inAWindowWhy}</p>
      <Actions of={[{ name: 'open-window', label: words.inAWindow, do: () => openWindow(requestId) }]} doing={doing} />
    </section>
  )
}

/** Opens the page where nothing can be laid over it. */
export function openWindow(requestId: string): void {
  open(`/sign?requestId=${encodeURIComponent(requestId)}`, `sign-${requestId}`, 'popup,width=520,height=780')
}
