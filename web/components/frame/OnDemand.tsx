import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../form/Actions.tsx'
import { type Action, useActions } from '../form/use-actions.ts'
import { Skeleton } from '../ui/Card.tsx'
import { useMessages } from './Root.tsx'
import { withLateTexts } from '../../locales/late-texts.ts'

type Props<Given> = { load: () => Promise<ComponentType<Given>>; given: Given }

/** Shows a part of a page that is loaded when it is opened. */
export function OnDemand<Given extends object>({ load, given }: Props<Given>) {
  const words = useMessages().frame
  const doing = useActions()
  const [View, setView] = useState<ComponentType<Given>>()
  const read: Action = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const loaded = await withLateTexts(load())
      setView(() => loaded)
    },
  }
  useEffect(() => void doing.perform(read), [])
  if (View) return <View {...given} />
  return doing.problem === undefined ? <Skeleton rows={4} /> : <Actions of={[read]} doing={doing} />
}
