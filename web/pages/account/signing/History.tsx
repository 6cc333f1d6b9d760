import type { ResponseOf } from '@countersign/protocol/api'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { momentOf } from '../../../lib/text/dates.ts'
import { downloadFile, downloadReceipt } from '../../../lib/download.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useLatestRead } from '../../../components/form/use-latest-read.ts'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useLocale } from '../words.ts'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Card, Empty, Skeleton } from '../../../components/ui/Card.tsx'
import { Chip, type Tone } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import type { IconName } from '../../../components/ui/Icon.tsx'
import { Search } from '../../../components/ui/Table.tsx'
import type { Pending } from './pending.ts'
import { useSigningMessages } from './words.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { withLateTexts } from '../../../locales/late-texts.ts'

const limit = '20'

/** Loads the display of exact texts, which the page only needs if there are texts. */
const loadExactText = () => withLateTexts(import('../../../components/display/ExactText.tsx'))
type Shown = Awaited<ReturnType<typeof loadExactText>>

/**
 * Shows the requests that the user has signed, denied or let expire, page by page. Reads the newest page again when a
 * request is no longer pending.
 */
export function SigningHistory({ waiting: { count, requests } }: { waiting: Pending }) {
  const { words } = useLocale()
  const [trail, setTrail] = useState<HistoryPage>()
  const [shown, setShown] = useState<Shown>()
  const [query, setQuery] = useState('')
  const texts = useSigningMessages()
  const readNewest = () => Promise.all([call('GET /api/signing/history', { querystring: { limit } }), loadExactText()])
  const showNewest = ([newest, loaded]: Awaited<ReturnType<typeof readNewest>>) => {
    setShown(loaded)
    setTrail((current) => withNewest(current, newest))
  }
  const { doing, readAgain } = useLatestRead({ read: readNewest, onRead: showNewest }, [
    [count, ...requests.map(idOf)].join(),
  ])
  const readNext = async () => {
    if (!trail?.nextCursor) return readAgain()
    const next = await call('GET /api/signing/history', { querystring: { limit, cursor: trail.nextCursor } })
    setTrail((current) => (current ? withNext(current, next) : next))
  }

  const ended = trail?.requests ?? []
  const found = ended.filter((request) => contains(request, query))
  const more: Action = { name: 'more', label: words.activity.more, look: 'secondary', do: readNext }
  const mayHaveMore = trail ? trail.nextCursor !== null : true
  return (
    <>
      <Card title={words.signing.historyTitle} about={words.signing.historyKept} flush class="history">
        {ended.length > 0 && (
          <div class="toolbar">
            <Search label={texts.search} value={query} onInput={setQuery} action="search-history" />
          </div>
        )}
        {!trail && doing.problem === undefined && <Skeleton />}
        {trail?.requests.length === 0 && (
          <Empty icon="file-check" title={texts.emptyHistory}>
            <p>{texts.emptyHistoryWhat}</p>
          </Empty>
        )}
        <ul class="list" aria-busy={!trail && doing.problem === undefined}>
          {shown && found.map((request) => <Entry key={request.requestId} request={request} shown={shown} />)}
        </ul>
        <p role="status" class="done">
          {ended.length > 0 && found.length === 0 && texts.nothingFound}
        </p>
      </Card>
      {((mayHaveMore && trail) || doing.problem !== undefined) && <Actions of={[more]} doing={doing} />}
    </>
  )
}

type Props = { request: SigningRequest; shown: Shown }

const looks: Record<SigningRequest['status'], { tone: Tone; icon: IconName }> = {
  pending: { tone: 'wait', icon: 'clock' },
  signed: { tone: 'ok', icon: 'signature' },
  denied: { tone: 'bad', icon: 'x' },
  expired: { tone: 'mute', icon: 'clock' },
}

/** Returns whether the app or the text of a request contains what is query. */
function contains({ app, payload }: SigningRequest, query: string): boolean {
  const part = query.trim().toLocaleLowerCase()
  return [app.name, payload].some((text) => text.toLocaleLowerCase().includes(part))
}

function Entry({ request, shown }: Props) {
  const { words, language } = useLocale()
  const doing = useActions()
  const { requestId, app, handle, status, organization } = request
  const { endedAt, asMember, receipt, receiptOf } = words.signing
  const texts = useSigningMessages()
  const time = momentOf(request.resolvedAt ?? request.createdAt, language)
  const save = { name: 'save-receipt', do: () => downloadReceipt(requestId) }
  return (
    <li data-request-id={requestId}>
      <Avatar kind="app" name={app.name} picture={app.iconUrl} toneOf={app.clientId} />
      <div class="body">
        <strong>
          {app.name}
          <Chip tone={looks[status].tone} icon={looks[status].icon}>
            {texts.status[status]}
          </Chip>
        </strong>
        <p>
          {status === 'pending' ? time : endedAt[status](time)} ·{' '}
          {organization ? asMember(organization.name, handle) : atHandle(handle)}
        </p>
        <Text request={request} shown={shown} />
        <ErrorMessage of={doing.problem} />
      </div>
      {status === 'signed' && (
        <div class="acts">
          <a
            class="button"
            href={`/account/signing/receipts/${requestId}`}
            data-action="show-receipt"
            aria-label={receiptOf(app.name, time)}
          >
            <Icon name="file-check" size="sm" />
            {receipt}
          </a>
          <button
            type="button"
            class="button square ghost"
            data-action={save.name}
            aria-label={texts.saveReceiptOf(app.name, time)}
            aria-busy={doing.current !== undefined}
            onClick={() => void doing.perform(save)}
          >
            <Icon name="download" size="sm" />
          </button>
        </div>
      )}
    </li>
  )
}

/** The text as it was shown for the signature. A receipt is evidence only together with the exact bytes. */
function Text({ request: { requestId, app, payload, status }, shown: { ExactText, FirstLine } }: Props) {
  const words = useLocale().words.signing
  const [open, setOpen] = useState(false)
  const save = () => downloadFile(payload, 'text/plain', `text-${requestId}.txt`)
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

/** The resolved requests of the user, newest first, with the cursor of the next page. */
export type HistoryPage = ResponseOf<'GET /api/signing/history'>

/** Replaces the newest page of a history that was read again. The entries after it stay. */
export function withNewest(history: HistoryPage | undefined, newest: HistoryPage): HistoryPage {
  const last = newest.requests.at(-1)
  const place = history?.requests.findIndex(({ requestId }) => requestId === last?.requestId) ?? -1
  if (!history || place < 0) return newest
  return { requests: [...newest.requests, ...history.requests.slice(place + 1)], nextCursor: history.nextCursor }
}

/** Appends the next page to a history. */
export function withNext(history: HistoryPage, next: HistoryPage): HistoryPage {
  return { ...next, requests: [...history.requests, ...next.requests] }
}
