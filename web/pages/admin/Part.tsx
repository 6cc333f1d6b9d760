import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { useMessages } from '../../components/frame/Root.tsx'
import { Skeleton } from '../../components/ui/Card.tsx'
import { withLateTexts } from '../../locales/late-texts.ts'
import type { AdminRoute, Navigate } from './routes.ts'

export type PartProps = { place: AdminRoute; goTo: Navigate }
type Props = PartProps & { load: () => Promise<ComponentType<PartProps>> }

/** Shows a section, which is loaded when it is opened. */
export function Part({ load, ...given }: Props) {
  const { frame } = useMessages()
  const doing = useActions()
  const [loaded, setLoaded] = useState<{ Section: ComponentType<PartProps> }>()
  const read = {
    name: 'retry',
    label: frame.retry,
    do: async () => {
      const Section = await withLateTexts(load())
      setLoaded({ Section })
    },
  }
  useEffect(() => void doing.perform(read), [])
  if (loaded) return <loaded.Section {...given} />
  return doing.problem === undefined ? <Skeleton rows={4} /> : <Actions of={[read]} doing={doing} />
}
