import { isSinkHeaderValue } from '@countersign/protocol/formats/audit/sink-header'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import type { Sink } from '@countersign/protocol/operations/sinks'
import { useState } from 'preact/hooks'
import { RadioGroup } from '../../../../components/form/Choice.tsx'
import { Field } from '../../../../components/form/Field.tsx'
import { ApiError } from '../../../../lib/api/call.ts'
import { formatNumber } from '../../../../lib/text/dates.ts'
import { Ask } from '../../acting/Ask.tsx'
import { useOperator } from '../../acting/operator.ts'
import { ShownOnce } from '../../acting/ShownOnce.tsx'
import { useSinksMessages } from './words.ts'

const kinds = ['http', 'syslog'] as const
const patterns = { http: /^https?:\/\/[^\s/]+/, syslog: /^tls:\/\/[^\s/?#@]+:[1-9]\d{0,4}$/ }

type Props = { onAdded: (secret: string | null) => void; onClose: () => void }

/** Asks where the audit log is to be sent. */
export function NewSink({ onAdded, onClose }: Props) {
  const words = useSinksMessages()
  const { ask } = useOperator()
  const [kind, setKind] = useState<Sink['kind']>('http')
  const [draft, setDraft] = useState({ key: '', url: '', authorization: '' })
  const [isChecked, setChecked] = useState(false)
  const [refusedUrl, setRefusedUrl] = useState<string>()
  const { key, url, authorization, isKey, isUrl, isAuthorization } = readDraft(kind, draft)
  const act = {
    name: 'add-sink',
    label: words.addNow,
    do: async () => {
      setChecked(true)
      if (!isKey || !isUrl || !isAuthorization) return
      const headers = authorization === '' ? {} : { headers: { authorization } }
      try {
        onAdded((await ask('POST /api/admin/sinks', { body: { key, kind, url, ...headers } })).secret)
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'invalid_request')) throw error
        setRefusedUrl(url)
      }
    },
  }
  const urlProblem = isChecked && !isUrl ? words.urlHints[kind] : url === refusedUrl ? words.urlRefused : undefined
  const header = authorization === '' ? [] : ['--header', 'Authorization: …']
  return (
    <Ask
      title={words.add}
      act={act}
      onClose={onClose}
      command={['sinks', 'add', key || '…', url || '…', '--kind', kind, ...header]}
    >
      <KindChoice chosen={kind} onChoose={setKind} />
      <Field
        name="key"
        label={words.key}
        hint={words.keyHint}
        value={draft.key}
        onInput={(written) => setDraft({ ...draft, key: written })}
        problem={isChecked && !isKey ? words.keyHint : undefined}
        exact
      />
      <Field
        name="url"
        label={words.url}
        hint={words.urlHints[kind]}
        keys="url"
        value={draft.url}
        onInput={(written) => setDraft({ ...draft, url: written })}
        problem={urlProblem}
        exact
      />
      {kind === 'http' && (
        <Field
          name="authorization"
          label={words.authorization}
          hint={words.authorizationHint}
          value={draft.authorization}
          onInput={(written) => setDraft({ ...draft, authorization: written })}
          problem={isChecked && !isAuthorization ? words.authorizationProblem(headerMax()) : undefined}
          exact
          isCode
        />
      )}
    </Ask>
  )
}

/** Returns what the operator has written, and which of it the service accepts. */
function readDraft(kind: Sink['kind'], draft: { key: string; url: string; authorization: string }) {
  const [key, url] = [draft.key.trim(), draft.url.trim()]
  const authorization = kind === 'http' ? draft.authorization.trim() : ''
  return {
    ...{ key, url, authorization },
    isKey: /^[a-z0-9][a-z0-9-]{0,39}$/.test(key),
    isUrl: patterns[kind].test(url),
    isAuthorization: authorization === '' || isSinkHeaderValue(authorization),
  }
}

function headerMax(): string {
  return formatNumber(pageLimits.sinkHeaderCharactersMax)
}

function KindChoice({ chosen, onChoose }: { chosen: Sink['kind']; onChoose: (kind: Sink['kind']) => void }) {
  const words = useSinksMessages()
  return (
    <RadioGroup
      name="kind"
      legend={words.kind}
      of={kinds.map((value) => ({ value, ...words.kinds[value] }))}
      chosen={[chosen]}
      onChoose={onChoose}
    />
  )
}

/** Shows the secret that signs requests. It cannot be shown again. */
export function IssuedSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  const words = useSinksMessages()
  const said = { what: words.secretCopied, once: words.secretWhat, saved: words.stored }
  return <ShownOnce title={words.secret} name="sink-secret" text={secret} words={said} onClose={onClose} />
}
