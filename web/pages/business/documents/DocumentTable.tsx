import type { OrganizationDocument } from '@countersign/protocol/signing/organization-documents'
import { momentOf } from '../../../lib/text/dates.ts'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { FirstLine, spellOut } from '../../../components/display/ExactText.tsx'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip, type Tone } from '../../../components/ui/Chip.tsx'
import { Icon, type IconName } from '../../../components/ui/Icon.tsx'
import { type Column, Table } from '../../../components/ui/Table.tsx'
import type { Documents } from './Documents.tsx'
import { progressOf } from './progress.ts'
import { Meter } from './WaitingDocument.tsx'
import { useDocumentMessages } from './words.ts'

const looks: Record<OrganizationDocument['status'], { tone: Tone; icon: IconName }> = {
  pending: { tone: 'wait', icon: 'clock' },
  signed: { tone: 'ok', icon: 'signature' },
  denied: { tone: 'bad', icon: 'x' },
  expired: { tone: 'mute', icon: 'clock' },
}

/** Documents in rows: what, for which app, how many signatures, since when, and the receipt. */
export function DocumentTable({ documents: { documents } }: { documents: Documents }) {
  const words = useDocumentMessages()
  const columns: Column<OrganizationDocument>[] = [
    { key: 'title', label: words.columns.title, cell: renderTitle },
    { key: 'app', label: words.columns.app, cell: renderApp },
    { key: 'signatures', label: words.columns.signatures, cell: renderCount },
    { key: 'status', label: words.columns.status, cell: renderStatus },
    { key: 'ended', label: words.columns.ended, cell: renderTime },
    { key: 'open', label: words.receipt, isActions: true, cell: renderOpen },
  ]
  return (
    <Card flush>
      <Table caption={words.title} columns={columns} rows={documents} keyOf={({ requestId }) => requestId} />
    </Card>
  )
}

type Props = { of: OrganizationDocument }

const renderTitle = (document: OrganizationDocument) => <Title of={document} />
const renderApp = (document: OrganizationDocument) => <App of={document} />
const renderCount = (document: OrganizationDocument) => <Count of={document} />
const renderStatus = (document: OrganizationDocument) => <Status of={document} />
const renderTime = (document: OrganizationDocument) => <Time of={document} />
const renderOpen = (document: OrganizationDocument) => <Open of={document} />

function Title({ of: { title } }: Props) {
  const words = useDocumentMessages()
  return (
    <strong class="doc-name">
      {title ? <FirstLine of={title} /> : title === null ? words.hidden : words.untitled}
    </strong>
  )
}

function App({ of: { app } }: Props) {
  return (
    <span class="person">
      <Avatar kind="app" name={app.name} picture={app.iconUrl} toneOf={app.clientId} size="xs" />
      <span>{app.name}</span>
    </span>
  )
}

function Status({ of: { status } }: Props) {
  const words = useDocumentMessages()
  return (
    <Chip tone={looks[status].tone} icon={looks[status].icon}>
      {words.status[status]}
    </Chip>
  )
}

function Time({ of: { resolvedAt, createdAt } }: Props) {
  return <>{momentOf(resolvedAt ?? createdAt, useLocale().language)}</>
}

function Count({ of }: Props) {
  const { count, needed } = progressOf(of)
  if (of.status !== 'signed' && of.status !== 'pending') return <>–</>
  return (
    <span class="progress">
      <span class="num">
        {count}/{needed}
      </span>
      <Meter count={count} needed={needed} />
    </span>
  )
}

function Open({ of }: Props) {
  const { requestId, status, title: text, app } = of
  const words = useDocumentMessages()
  const { authUrl } = readSiteSettings()
  if (text === null) return null
  const title = text ? spellOut(text) : words.untitled
  if (status === 'pending')
    return (
      <a class="button" href={`${authUrl}/sign?requestId=${requestId}`} aria-label={words.openOf(title, app.name)}>
        {words.readAgain}
      </a>
    )
  if (status !== 'signed') return null
  return (
    <a
      class="button"
      href={`${authUrl}/account/signing/receipts/${requestId}`}
      data-action="open-receipt"
      aria-label={words.receiptOf(title)}
    >
      <Icon name="file-check" size="sm" />
      {words.receipt}
    </a>
  )
}
