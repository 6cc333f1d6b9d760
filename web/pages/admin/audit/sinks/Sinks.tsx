import type { Sink } from '@countersign/protocol/operations/sinks'
import { useState } from 'preact/hooks'
import { useLocale } from '../../../../components/frame/Root.tsx'
import { toast } from '../../../../components/frame/toast.ts'
import { Card, Empty } from '../../../../components/ui/Card.tsx'
import { Chip } from '../../../../components/ui/Chip.tsx'
import { Icon } from '../../../../components/ui/Icon.tsx'
import { Menu } from '../../../../components/ui/Menu.tsx'
import { formatMomentInSentence, formatNumber } from '../../../../lib/text/dates.ts'
import { useOperator } from '../../acting/operator.ts'
import { Reading } from '../../reading/Reading.tsx'
import { useReading } from '../../reading/use-reading.ts'
import { IssuedSecret, NewSink } from './NewSink.tsx'
import { RemoveSink, ReplaySink, RotateSecret, SwitchSink, TestSink } from './SinkDialogs.tsx'
import { useSinksMessages } from './words.ts'

type Act = 'test' | 'switch' | 'replay' | 'rotate' | 'remove'
type DialogState = 'add' | { about: Act; sink: Sink }

/** Lists the receivers of the audit log. */
export function Sinks() {
  const words = useSinksMessages()
  const { ask } = useOperator()
  const [dialog, setDialog] = useState<DialogState>()
  const [secret, setSecret] = useState<string>()
  const sinks = useReading(async () => (await ask('GET /api/admin/sinks', {})).sinks, [])
  const close = () => setDialog(undefined)
  const done = (said: string) => {
    close()
    sinks.again()
    toast(said)
  }
  const issued = (said: string) => (made: string | null) => {
    done(said)
    setSecret(made ?? undefined)
  }
  return (
    <Card
      flush
      title={words.title}
      about={words.about}
      actions={
        <button type="button" class="button" data-action="ask-add-sink" onClick={() => setDialog('add')}>
          <Icon name="plus" size="sm" />
          {words.add}
        </button>
      }
    >
      <Reading of={sinks}>
        {(found) =>
          found.length === 0 ? (
            <Empty icon="server" title={words.none} />
          ) : (
            <ul class="list">
              {found.map((sink) => (
                <SinkRow key={sink.sinkId} sink={sink} onAsk={(about) => setDialog({ about, sink })} />
              ))}
            </ul>
          )
        }
      </Reading>
      {dialog === 'add' && <NewSink onClose={close} onAdded={issued(words.added)} />}
      {typeof dialog === 'object' && (
        <ChosenDialog {...dialog} onDone={done} onIssued={issued(words.rotate.done)} onClose={close} />
      )}
      {secret !== undefined && <IssuedSecret secret={secret} onClose={() => setSecret(undefined)} />}
    </Card>
  )
}

type ChosenProps = {
  about: Act
  sink: Sink
  onDone: (said: string) => void
  onIssued: (secret: string) => void
  onClose: () => void
}

function ChosenDialog({ about, onIssued, ...given }: ChosenProps) {
  switch (about) {
    case 'test':
      return <TestSink {...given} />
    case 'switch':
      return <SwitchSink {...given} />
    case 'replay':
      return <ReplaySink {...given} />
    case 'rotate':
      return <RotateSecret {...given} onIssued={onIssued} />
    case 'remove':
      return <RemoveSink {...given} />
  }
}

function SinkRow({ sink, onAsk }: { sink: Sink; onAsk: (about: Act) => void }) {
  const words = useSinksMessages()
  const { language } = useLocale()
  const { key, kind, url, status, lag, lastError, lastDeliveredAt } = sink
  const isPaused = status === 'paused'
  const delivered =
    lastDeliveredAt === null
      ? words.neverDelivered
      : words.delivered(formatMomentInSentence(lastDeliveredAt, language, new Date()))
  return (
    <li>
      <span class="glyph sm">
        <Icon name="server" size="sm" />
      </span>
      <div class="body">
        <strong>
          {key} {isPaused && <Chip tone="wait">{words.paused}</Chip>}
          {!isPaused && lastError !== null && <Chip tone="bad">{words.faults[lastError]}</Chip>}
        </strong>
        <code dir="ltr">{url}</code>
        <small>
          {delivered} · {words.waiting(lag, formatNumber(lag))}
        </small>
      </div>
      <div class="acts">
        <Menu
          label={words.actions(key)}
          action="sink-menu"
          items={[
            { label: words.test.open, icon: 'play', action: 'ask-test-sink', onChoose: () => onAsk('test') },
            {
              label: isPaused ? words.resume.open : words.pause.open,
              icon: isPaused ? 'play' : 'clock',
              action: 'ask-switch-sink',
              onChoose: () => onAsk('switch'),
            },
            {
              label: words.replay.open,
              icon: 'refresh-cw',
              action: 'ask-replay-sink',
              onChoose: () => onAsk('replay'),
            },
            ...(kind === 'http'
              ? [
                  {
                    label: words.rotate.open,
                    icon: 'key-round',
                    action: 'ask-rotate-sink',
                    onChoose: () => onAsk('rotate'),
                  } as const,
                ]
              : []),
            {
              label: words.remove.open,
              icon: 'trash',
              danger: true,
              action: 'ask-remove-sink',
              onChoose: () => onAsk('remove'),
            },
          ]}
        />
      </div>
    </li>
  )
}
