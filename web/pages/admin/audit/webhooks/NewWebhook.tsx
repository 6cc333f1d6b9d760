import type { ServiceEventType } from '@countersign/protocol/clients/webhook-events'
import { useState } from 'preact/hooks'
import { RadioGroup } from '../../../../components/form/Choice.tsx'
import { Field } from '../../../../components/form/Field.tsx'
import { ApiError } from '../../../../lib/api/call.ts'
import { Ask } from '../../acting/Ask.tsx'
import { useOperator } from '../../acting/operator.ts'
import { ShownOnce } from '../../acting/ShownOnce.tsx'
import { useWebhooksMessages } from './words.ts'

type SelectableType = Exclude<ServiceEventType, 'service.test'>

const people: SelectableType[] = [
  ...(['identity.created', 'identity.updated', 'identity.suspended', 'identity.activated'] as const),
  ...(['identity.deletion_scheduled', 'identity.restored', 'identity.deleted'] as const),
]
const groups: SelectableType[] = [
  ...(['group.created', 'group.updated', 'group.deleted', 'group.member.added', 'group.member.removed'] as const),
]
const selections = { all: [], people, groups }
const choices = ['all', 'people', 'groups'] as const

type Props = { onAdded: (secret: string) => void; onClose: () => void }

/** Asks where events are to be sent, and which. */
export function NewWebhook({ onAdded, onClose }: Props) {
  const words = useWebhooksMessages()
  const { ask } = useOperator()
  const [selected, setSelected] = useState<(typeof choices)[number]>('all')
  const [written, setWritten] = useState('')
  const [isChecked, setChecked] = useState(false)
  const [refusedUrl, setRefusedUrl] = useState<string>()
  const url = written.trim()
  const isUrl = /^https?:\/\/[^\s/]+/.test(url)
  const events = selections[selected]
  const act = {
    name: 'add-webhook',
    label: words.addNow,
    do: async () => {
      setChecked(true)
      if (!isUrl) return
      try {
        onAdded((await ask('POST /api/admin/webhooks', { body: { url, events } })).secret)
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'invalid_request')) throw error
        setRefusedUrl(url)
      }
    },
  }
  const problem = isChecked && !isUrl ? words.urlHint : url === refusedUrl ? words.urlRefused : undefined
  return (
    <Ask
      title={words.add}
      act={act}
      onClose={onClose}
      command={['webhooks', 'add', url || '…', ...events.flatMap((type) => ['--event', type])]}
    >
      <Field
        name="url"
        label={words.url}
        hint={words.urlHint}
        keys="url"
        value={written}
        onInput={setWritten}
        problem={problem}
        exact
      />
      <RadioGroup
        name="events"
        legend={words.events}
        of={choices.map((value) => ({ value, ...words.selections[value] }))}
        chosen={[selected]}
        onChoose={setSelected}
      />
    </Ask>
  )
}

/** Shows the secret that signs requests. It cannot be shown again. */
export function IssuedSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  const words = useWebhooksMessages()
  const said = { what: words.secretCopied, once: words.secretWhat, saved: words.stored }
  return <ShownOnce title={words.secret} name="webhook-secret" text={secret} words={said} onClose={onClose} />
}
