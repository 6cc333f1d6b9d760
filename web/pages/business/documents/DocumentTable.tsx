import type { OrganizationDocument } from '@countersign/protocol/signing/organization-documents'
import { momentOf } from '../../../lib/text/dates.ts'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
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
  const { language } = useLocale()
  const titleOf = ({ title }: OrganizationDocument) => (title === null ? words.hidden : title || words.untitled)
  const columns: Column<OrganizationDocument>[] = [
    { key: 'title', label: words.columns.title, cell: (each) => <strong>{titleOf(each)}</strong> },
    {
      key: 'app',
      label: words.columns.app,
      cell: ({ app }) => (
        <span class="person">
          <Avatar kind="app" name={app.name} picture={app.iconUrl} toneOf={app.clientId} size="xs" />
          <span>{app.name}</span>
        </span>
      ),
    },
    { key: 'signatures', label: words.columns.signatures, cell: (each) => <Count of={each} /> },
    {
      key: 'status',
      label: words.columns.status,
      cell: ({ status }) => (
        <Chip tone={looks[status].tone} icon={looks[status].icon}>
          {words.status[status]}
        </Chip>
      ),
    },
    {
      key: 'ended',
      label: words.columns.ended,
      cell: ({ resolvedAt, createdAt }) => momentOf(resolvedAt ?? createdAt, language),
    },
    { key: 'open', label: words.receipt, isActions: true, cell: (each) => <Open of={each} title={titleOf(each)} /> },
  ]
  return (
    <Card flush>
      <Table caption={words.title} columns={columns} rows={documents} keyOf={({ requestId }) => requestId} />
    </Card>
  )
}

function Count({ of }: { of: OrganizationDocument }) {
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

function Open({ of: { requestId, status, title: text, app }, title }: { of: OrganizationDocument; title: string }) {
  const words = useDocumentMessages()
  const { authUrl } = readSiteSettings()
  if (text === null) return null
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
