import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { useMessages } from './words.ts'
import { Skeleton } from '../../components/ui/Card.tsx'
import { withLateTexts } from '../../locales/late-texts.ts'

/** Makes a component of one that is loaded when it is first shown. Until then, it shows `Waiting`. */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Waiting: ComponentType = Rows,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Lazy(props: Props) {
    const words = useMessages().account
    const doing = useActions()
    const [, setReady] = useState(loaded !== undefined)
    const read = {
      name: 'retry',
      label: words.retry,
      do: async () => {
        loaded ??= await withLateTexts(load())
        setReady(true)
      },
    }
    useEffect(() => void (loaded ?? doing.perform(read)), [])
    const Loaded = loaded
    if (Loaded) return <Loaded {...props} />
    if (doing.problem !== undefined) return <Actions of={[read]} doing={doing} />
    return <Waiting />
  }
}

function Rows() {
  return (
    <div class="card flush">
      <Skeleton rows={4} />
    </div>
  )
}
