import type { ComponentType } from 'preact'
import { OnDemand } from '../../components/frame/OnDemand.tsx'

type LoadedProps<Given> = { load: () => Promise<ComponentType<Given>>; given: Given }

/** Shows a part of the pages that is loaded when it is opened, with the texts of what an organization refuses. */
export function Loaded<Given extends object>({ load, given }: LoadedProps<Given>) {
  return <OnDemand load={() => withRefusals(load())} given={given} />
}

async function withRefusals<Given extends object>(loading: Promise<ComponentType<Given>>) {
  const [View, { Refusals }] = await Promise.all([loading, import('./Refusals.tsx')])
  return (given: Given) => (
    <Refusals>
      <View {...given} />
    </Refusals>
  )
}
