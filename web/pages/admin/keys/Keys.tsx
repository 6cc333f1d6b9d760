/* oxlint-disable react/no-unstable-nested-components -- Cells are functions that the table calls, no components. */
import type { SigningKeyList, SigningKeyState } from '@countersign/protocol/oauth/token-keys'
import { useState } from 'preact/hooks'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip, Note, type Tone } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { type Column, Table } from '../../../components/ui/Table.tsx'
import { formatMoment } from '../../../lib/text/dates.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { Reading } from '../reading/Reading.tsx'
import { useReading } from '../reading/use-reading.ts'
import { useKeysMessages } from './words.ts'

type Key = SigningKeyList['keys'][number]

/** Lists the keys that sign tokens, and rotates them. */
export function Keys() {
  const words = useKeysMessages()
  const { ask, may } = useOperator()
  const [isOpen, setOpen] = useState(false)
  const keys = useReading<SigningKeyList>(() => ask('GET /api/admin/keys', {}), [])
  const rotate = may('keys.manage') && (
    <button type="button" class="button" data-action="ask-rotate-keys" onClick={() => setOpen(true)}>
      <Icon name="refresh-cw" size="sm" />
      {words.rotate}
    </button>
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead} actions={rotate} />
      <Card flush>
        <Reading of={keys}>{({ keys: found }) => <KeyTable keys={found} />}</Reading>
      </Card>
      {isOpen && <Rotate onRotated={keys.set} onClose={() => setOpen(false)} />}
    </>
  )
}

const tones: Record<SigningKeyState, Tone> = { published: 'wait', signing: 'ok', retired: 'mute' }

function KeyTable({ keys }: { keys: Key[] }) {
  const words = useKeysMessages()
  const { language } = useLocale()
  const momentOf = (instant: string) => formatMoment(instant, language, new Date())
  const columns: Column<Key>[] = [
    { key: 'algorithm', label: words.algorithm, cell: ({ algorithm }) => <code dir="ltr">{algorithm}</code> },
    { key: 'state', label: words.state, cell: ({ state }) => <Chip tone={tones[state]}>{words.states[state]}</Chip> },
    { key: 'from', label: words.from, cell: ({ activatesAt }) => momentOf(activatesAt) },
    {
      key: 'until',
      label: words.until,
      cell: ({ publishedUntil }) => (publishedUntil === null ? words.untilRotation : momentOf(publishedUntil)),
    },
    { key: 'kid', label: words.kid, cell: ({ kid }) => <code dir="ltr">{kid}</code> },
  ]
  return <Table caption={words.title} columns={columns} rows={keys} keyOf={({ kid }) => kid} />
}

type RotateProps = { onRotated: (keys: SigningKeyList) => void; onClose: () => void }

const times = ['later', 'atOnce'] as const

/** Publishes new keys. They sign after two hours, when apps have read them; in an emergency, at once. */
function Rotate({ onRotated, onClose }: RotateProps) {
  const words = useKeysMessages()
  const { ask } = useOperator()
  const [time, setTime] = useState<(typeof times)[number]>('later')
  const atOnce = time === 'atOnce'
  const act = {
    name: 'rotate-keys',
    label: words.rotate,
    look: atOnce ? 'danger' : 'primary',
    do: async () => {
      onRotated(await ask('POST /api/admin/keys/rotate', { body: { atOnce } }))
      onClose()
      toast(words.rotated)
    },
  } as const
  return (
    <Ask
      title={words.rotateTitle}
      act={act}
      onClose={onClose}
      command={['keys', 'rotate', ...(atOnce ? ['--at-once', '--yes'] : [])]}
    >
      <RadioGroup
        name="time"
        legend={words.when}
        of={times.map((value) => ({ value, ...words.times[value] }))}
        chosen={[time]}
        onChoose={setTime}
      />
      {atOnce && <Note tone="bad">{words.atOnceWhat}</Note>}
    </Ask>
  )
}
