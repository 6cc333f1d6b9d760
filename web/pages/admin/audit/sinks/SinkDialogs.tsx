import type { Sink } from '@countersign/protocol/operations/sinks'
import { useState } from 'preact/hooks'
import { Field } from '../../../../components/form/Field.tsx'
import { Note } from '../../../../components/ui/Chip.tsx'
import { Ask } from '../../acting/Ask.tsx'
import { useOperator } from '../../acting/operator.ts'
import { useSinksMessages } from './words.ts'

type Props = { sink: Sink; onDone: (said: string) => void; onClose: () => void }

/** Sends one event at once, and says why it did not arrive. */
export function TestSink({ sink: { sinkId, key }, onDone, onClose }: Props) {
  const words = useSinksMessages()
  const { ask } = useOperator()
  const [fault, setFault] = useState<keyof typeof words.faults>()
  const act = {
    name: 'test-sink',
    label: words.test.now,
    do: async () => {
      setFault(undefined)
      const { error } = await ask('POST /api/admin/sinks/:sinkId/test', { params: { sinkId } })
      if (error === null) onDone(words.test.arrived)
      else setFault(error)
    },
  }
  return (
    <Ask title={words.test.title(key)} act={act} onClose={onClose} command={['sinks', 'test', key]}>
      <p>{words.test.what}</p>
      <div role="status">{fault !== undefined && <Note tone="bad">{words.test.failed(words.faults[fault])}</Note>}</div>
    </Ask>
  )
}

/** Pauses a receiver, or resumes a paused one. */
export function SwitchSink({ sink: { sinkId, key, status }, onDone, onClose }: Props) {
  const words = useSinksMessages()
  const { ask } = useOperator()
  const isPaused = status === 'paused'
  const said = isPaused ? words.resume : words.pause
  const act = {
    name: 'switch-sink',
    label: said.open,
    do: async () => {
      const body = { status: isPaused ? 'enabled' : 'paused' } as const
      await ask('PATCH /api/admin/sinks/:sinkId', { params: { sinkId }, body })
      onDone(said.done(key))
    },
  }
  return (
    <Ask title={said.title(key)} act={act} onClose={onClose} command={['sinks', isPaused ? 'resume' : 'pause', key]}>
      <p>{said.what}</p>
    </Ask>
  )
}

/** Sends the events after a number again. */
export function ReplaySink({ sink: { sinkId, key, cursor }, onDone, onClose }: Props) {
  const words = useSinksMessages()
  const { ask } = useOperator()
  const [written, setWritten] = useState('')
  const [isChecked, setChecked] = useState(false)
  const after = /^\d{1,15}$/.test(written.trim()) ? Number(written.trim()) : undefined
  const isValid = after !== undefined && after <= cursor
  const act = {
    name: 'replay-sink',
    label: words.replay.now,
    do: async () => {
      setChecked(true)
      if (!isValid) return
      await ask('PUT /api/admin/sinks/:sinkId/cursor', { params: { sinkId }, body: { cursor: after } })
      onDone(words.replay.done(key))
    },
  }
  return (
    <Ask
      title={words.replay.title(key)}
      act={act}
      onClose={onClose}
      command={['sinks', 'replay', key, '--after', written.trim() || '…']}
    >
      <Field
        name="after"
        label={words.replay.after}
        hint={words.replay.hint(String(cursor))}
        keys="numeric"
        value={written}
        onInput={setWritten}
        problem={isChecked && !isValid ? words.replay.hint(String(cursor)) : undefined}
      />
    </Ask>
  )
}

const graceSeconds = 24 * 3600

/** Replaces the secret. The old one signs too for a day. */
export function RotateSecret({
  sink: { sinkId, key },
  onIssued,
  onClose,
}: Omit<Props, 'onDone'> & { onIssued: (secret: string) => void }) {
  const words = useSinksMessages()
  const { ask } = useOperator()
  const act = {
    name: 'rotate-sink',
    label: words.rotate.open,
    do: async () => {
      const given = { params: { sinkId }, body: { graceSeconds } }
      onIssued((await ask('POST /api/admin/sinks/:sinkId/secret', given)).secret)
    },
  }
  return (
    <Ask
      title={words.rotate.title(key)}
      act={act}
      onClose={onClose}
      command={['sinks', 'rotate-secret', key, '--grace', String(graceSeconds)]}
    >
      <p>{words.rotate.what}</p>
    </Ask>
  )
}

export function RemoveSink({ sink: { sinkId, key }, onDone, onClose }: Props) {
  const words = useSinksMessages()
  const { ask } = useOperator()
  const act = {
    name: 'remove-sink',
    label: words.remove.open,
    look: 'danger',
    do: async () => {
      await ask('DELETE /api/admin/sinks/:sinkId', { params: { sinkId } })
      onDone(words.remove.done(key))
    },
  } as const
  return (
    <Ask title={words.remove.title(key)} act={act} onClose={onClose} command={['sinks', 'remove', key, '--yes']}>
      <p>{words.remove.what}</p>
    </Ask>
  )
}
