import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { useDoing } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { fedcmDe } from '../../locales/fedcm-de.ts'
import { fedcmEn } from '../../locales/fedcm-en.ts'
import { useSpeech } from '../../components/frame/Root.tsx'
import { Waiting } from '../../components/display/Waiting.tsx'
import { readView } from '../../lib/view.ts'
import { giveToApp, takeOutcome, windowCloser } from './browser-window.ts'

const spoken = { en: fedcmEn, de: fedcmDe }

type State = 'ending' | 'over' | 'fault'

/** The end of a window that the browser opened: it closes by itself, and says what to do where it does not. */
export function Ending() {
  const words = spoken[useSpeech().language]
  const { fault } = readView('fedcm')
  const doing = useDoing()
  const close = windowCloser()
  const [state, setState] = useState<State>(fault === undefined ? 'ending' : 'fault')
  useEffect(() => {
    if (fault === undefined) end().then(setState, () => setState('fault'))
  }, [])
  if (state === 'ending')
    return (
      <Frame title={words.ending}>
        <section class="step">
          <h1>{words.ending}</h1>
          <Waiting />
        </section>
      </Frame>
    )
  const hints: Record<string, string> = words.hints
  const { title, hint } =
    state === 'over'
      ? { title: words.over, hint: words.overHint }
      : { title: words.fault, hint: hints[fault ?? ''] ?? words.hint }
  return (
    <Frame title={title}>
      <section class="step">
        <h1>{title}</h1>
        <p class="lead">{hint}</p>
        {close && <Actions of={[{ name: 'close', label: words.close, look: 'secondary', do: close }]} doing={doing} />}
      </section>
    </Frame>
  )
}

/** Gives the app its answer, where there is one; else the person has signed in here, or said no. */
async function end(): Promise<State> {
  const outcome = takeOutcome()
  if (outcome) await giveToApp(outcome)
  else windowCloser()?.()
  return 'over'
}
