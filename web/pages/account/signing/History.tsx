import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../../lib/call.ts'
import { momentOf } from '../../../lib/text/dates.ts'
import { saveReceipt } from '../../../lib/receipt.ts'
import { saveFile } from '../../../lib/save-file.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Monogram } from '../../../components/display/Monogram.tsx'
import { Problem } from '../../../components/form/Problem.tsx'
import { useSpeech } from '../../../components/frame/Root.tsx'
import { Waiting } from '../../../components/display/Waiting.tsx'
import type { Pending } from './pending.ts'
import { withNewest, withNext, type Trail } from './history.ts'

const limit = '20'

/** What shows exact texts, which the page does not need before there are any. */
const loadExactText = () => import('../../../components/display/ExactText.tsx')
type Shown = Awaited<ReturnType<typeof loadExactText>>

/** What a person has signed, denied or let expire, page after page; read again when less waits than before. */
export function History({ waiting: { count, requests } }: { waiting: Pending }) {
  const { words } = useSpeech()
  const doing = useDoing()
  const [trail, setTrail] = useState<Trail>()
  const [shown, setShown] = useState<Shown>()
  const readNewest = async () => {
    const reading = call('GET /api/signing/history', { querystring: { limit } })
    const [newest, loaded] = await Promise.all([reading, loadExactText()])
    setShown(loaded)
    setTrail((held) => withNewest(held, newest))
  }
  const readNext = async () => {
    if (!trail?.nextCursor) return readNewest()
    const next = await call('GET /api/signing/history', { querystring: { limit, cursor: trail.nextCursor } })
    setTrail((held) => (held ? withNext(held, next) : next))
  }
  useEffect(() => void doing.perform({ name: 'look', do: readNewest }), [[count, ...requests.map(idOf)].join()])

  if (!trail && doing.problem === undefined) return <Waiting />
  if (trail?.requests.length === 0) return null
  const more: Action = { name: 'more', label: words.activity.more, look: 'secondary', do: readNext }
  const mayHaveMore = trail ? trail.nextCursor !== null : true
  return (
    <section class="apart history">
      <h2>{words.signing.historyTitle}</h2>
      <p class="hint">{words.signing.historyKept}</p>
      <ul class="entries">
        {shown && trail?.requests.map((request) => <Entry key={request.requestId} request={request} shown={shown} />)}
      </ul>
      <Actions of={mayHaveMore ? [more] : []} doing={doing} />
    </section>
  )
}

type Props = { request: SigningRequest; shown: Shown }

function Entry({ request, shown }: Props) {
  const { words, language } = useSpeech()
  const doing = useDoing()
  const { requestId, app, handle, status, organization } = request
  const { endedAt, asMember, receipt, receiptOf } = words.signing
  const time = momentOf(request.resolvedAt ?? request.createdAt, language)
  const save = { name: 'save-receipt', do: () => saveReceipt(requestId) }
  return (
    <li class="entry with-monogram">
      <Monogram name={app.name} />
      <div>
        <h3>{app.name}</h3>
        <p>
          {status === 'pending' ? time : endedAt[status](time)} ·{' '}
          {organization ? asMember(organization.name, handle) : `@${handle}`}
        </p>
        <Text request={request} shown={shown} />
        <Problem of={doing.problem} />
      </div>
      {status === 'signed' && (
        <button
          type="button"
          class="button quiet"
          data-action={save.name}
          aria-label={receiptOf(app.name, time)}
          aria-busy={doing.current !== undefined}
          onClick={() => void doing.perform(save)}
        >
          {receipt}
        </button>
      )}
    </li>
  )
}

/** The text as it was shown for the signature; a receipt proves something only beside its exact bytes. */
function Text({ request: { requestId, app, payload, status }, shown: { ExactText, FirstLine } }: Props) {
  const words = useSpeech().words.signing
  const [open, setOpen] = useState(false)
  const save = () => saveFile(payload, 'text/plain', `text-${requestId}.txt`)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{open ? words.text : <FirstLine of={payload} />}</summary>
      {open && (
        <div class="opened">
          <ExactText text={payload} label={words.textOf(app.name)} />
          {status === 'signed' && (
            <button type="button" class="button quiet" data-action="save-text" onClick={save}>
              {words.saveText}
            </button>
          )}
        </div>
      )}
    </details>
  )
}

function idOf({ requestId }: { requestId: string }): string {
  return requestId
}
