import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { type Action, useActions } from '../../components/form/use-actions.ts'
import { Skeleton } from '../../components/ui/Card.tsx'
import type { Refusals as RefusalsView } from './Refusals.tsx'
import { withLateTexts } from '../../locales/late-texts.ts'
import { useConsoleMessages } from './console-words.ts'

type LoadedProps<Given> = { load: () => Promise<ComponentType<Given>>; given: Given }

/** Shows a part of the pages that is loaded when it is opened. */
export function Loaded<Given extends object>({ load, given }: LoadedProps<Given>) {
  const { retry } = useConsoleMessages()
  const doing = useActions()
  const [loaded, setLoaded] = useState<{ View: ComponentType<Given>; Refusals: typeof RefusalsView }>()
  const read: Action = {
    name: 'retry',
    label: retry,
    do: async () => {
      const [View, { Refusals }] = await withLateTexts(Promise.all([load(), import('./Refusals.tsx')]))
      setLoaded({ View, Refusals })
    },
  }
  useEffect(() => void doing.perform(read), [])
  if (loaded)
    return (
      <loaded.Refusals>
        <loaded.View {...given} />
      </loaded.Refusals>
    )
  return doing.problem === undefined ? <Skeleton rows={4} /> : <Actions of={[read]} doing={doing} />
}
