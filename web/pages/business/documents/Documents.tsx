import type { ResponseOf } from '@countersign/protocol/api'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { onBecomesVisible } from '../../../lib/navigation.ts'
import { callBusiness } from '../../../lib/api/business-call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import type { Action } from '../../../components/form/use-actions.ts'
import { useLatestRead } from '../../../components/form/use-latest-read.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { Card, Empty, Skeleton } from '../../../components/ui/Card.tsx'
import { Segmented } from '../../../components/ui/Tabs.tsx'
import { DocumentTable } from './DocumentTable.tsx'
import { WaitingDocument } from './WaitingDocument.tsx'
import { useDocumentMessages } from './words.ts'
import './documents.css'

const path = 'GET /api/organizations/:organizationId/signing-requests'
/** A page of what an organization is asked to sign. */
export type Documents = ResponseOf<typeof path>
const states = ['waiting', 'signed', 'all'] as const
type State = (typeof states)[number]

type Props = { organization: Pick<OwnOrganization, 'id' | 'identityId' | 'name'> }

/** What apps ask an organization to sign: what waits, what is signed, by which members. */
export function Documents({ organization }: Props) {
  const words = useDocumentMessages()
  const [state, setState] = useState<State>('waiting')
  const [shown, setShown] = useState<{ state: State; documents: Documents }>()
  const { id: organizationId, identityId } = organization
  const request = (cursor: string | null) =>
    callBusiness(path, {
      params: { organizationId },
      querystring: { identity_id: identityId, state, ...(cursor !== null && { cursor }) },
    })
  const documents = shown?.state === state ? shown.documents : undefined
  /** How many documents the user has loaded of each state. `more` may add to it while they are read again. */
  const loaded = useMemo(() => ({ waiting: 0, signed: 0, all: 0 }), [organizationId, identityId])
  /** Reads as many documents as the user has loaded, so that none disappears while the user reads. */
  const readAll = async () => {
    let found = await request(null)
    while (found.documents.length < loaded[state] && found.nextCursor !== null)
      found = withNext(found, await request(found.nextCursor))
    return found
  }
  const { doing, readAgain } = useLatestRead(
    { read: readAll, onRead: (found) => setShown({ state, documents: found }) },
    [organizationId, identityId, state],
  )
  useReadAgain(readAgain, documents)
  const retry: Action = { name: 'retry', label: words.retry, look: 'secondary', do: readAgain }
  const more: Action = {
    name: 'more',
    label: words.more,
    look: 'secondary',
    do: async () => {
      const next = await request(documents?.nextCursor ?? null)
      loaded[state] = (documents?.documents.length ?? 0) + next.documents.length
      // A late answer for another state is not shown.
      setShown((current) =>
        current?.state === state ? { state, documents: withNext(current.documents, next) } : current,
      )
    },
  }
  return (
    <>
      <PageHead title={words.title} lead={words.lead(organization.name)} />
      <div class="row">
        <Segmented
          label={words.show}
          of={states.map((value) => ({ value, label: words.states[value] }))}
          chosen={state}
          onChoose={setState}
        />
      </div>
      {documents ? <List state={state} documents={documents} /> : doing.problem === undefined && <Loading />}
      <Actions
        of={documents ? (documents.nextCursor === null ? [] : [more]) : doing.problem === undefined ? [] : [retry]}
        doing={doing}
      />
    </>
  )
}

const dayMilliseconds = 24 * 3600 * 1000

/** Reads again when the user returns to the page, and when the next document expires. */
function useReadAgain(readAgain: () => void, documents: Documents | undefined): void {
  useEffect(() => onBecomesVisible(async () => readAgain()), [])
  useEffect(() => {
    const pending = documents?.documents.filter(({ status }) => status === 'pending') ?? []
    const left = pending.map(({ expiresAt }) => Date.parse(expiresAt) - Date.now()).filter((each) => each > 0)
    if (left.length === 0) return
    // The service counts whole seconds, and timers wait no longer than 24 days.
    const timer = setTimeout(readAgain, Math.min(...left, dayMilliseconds) + 1000)
    return () => clearTimeout(timer)
  }, [documents])
}

function Loading() {
  return (
    <Card flush>
      <Skeleton />
    </Card>
  )
}

function List({ state, documents }: { state: State; documents: Documents }) {
  const words = useDocumentMessages()
  if (documents.documents.length === 0)
    return (
      <Card>
        <Empty icon="file-pen-line" title={words.empty[state].title} level={2}>
          <p>{words.empty[state].what}</p>
        </Empty>
      </Card>
    )
  if (state !== 'waiting') return <DocumentTable documents={documents} />
  return (
    <>
      {documents.documents.map((document) => (
        <WaitingDocument key={document.requestId} document={document} of={documents} />
      ))}
    </>
  )
}

/** Appends the next page. A document may be on both, if another was answered in between. */
export function withNext(shown: Documents | undefined, next: Documents): Documents {
  const known = new Set(shown?.documents.map(({ requestId }) => requestId))
  const others = next.documents.filter(({ requestId }) => !known.has(requestId))
  return { ...next, documents: [...(shown?.documents ?? []), ...others] }
}
