import type { App } from '@countersign/protocol/clients/apps'
import { Chip, type Tone } from '../../../components/ui/Chip.tsx'
import { useAppsMessages } from './words.ts'

type Mode = App['access']['mode']

const tones: Record<Mode, Tone> = { everyone: 'ok', restricted: 'wait', none: 'bad' }

/** Who may use an app. */
export function AccessChip({ mode }: { mode: Mode }) {
  const words = useAppsMessages()
  return <Chip tone={tones[mode]}>{words.modes[mode]}</Chip>
}
