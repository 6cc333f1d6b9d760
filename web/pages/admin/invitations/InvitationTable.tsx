/* oxlint-disable react/no-unstable-nested-components -- Cells are functions that the table calls, no components. */
import type { AccountInvitation } from '@countersign/protocol/accounts/invitations'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Chip, type Tone } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { Menu, type MenuItem } from '../../../components/ui/Menu.tsx'
import { Person } from '../../../components/ui/Avatar.tsx'
import { type Column, Table } from '../../../components/ui/Table.tsx'
import { dayOf, formatNumber } from '../../../lib/text/dates.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { useAdminMessages } from '../words.ts'
import type { InvitationAct } from './Invitations.tsx'
import { useInvitationsMessages } from './words.ts'

type Props = { invitations: AccountInvitation[]; onAsk: (act: InvitationAct) => void }

const tones: Record<AccountInvitation['status'], Tone> = { pending: 'wait', used: 'ok', expired: 'mute', void: 'bad' }

/** Shows the addressees of invitations, and what became of them. */
export function InvitationTable({ invitations, onAsk }: Props) {
  const words = useInvitationsMessages()
  const { actions } = useAdminMessages()
  const { language } = useLocale()
  const columns: Column<AccountInvitation>[] = [
    { key: 'for', label: words.columns.for, cell: (invitation) => <Invited invitation={invitation} /> },
    { key: 'status', label: words.columns.status, cell: (invitation) => <Status of={invitation} /> },
    {
      key: 'used',
      label: words.columns.used,
      cell: ({ useCount, maxUses }) => words.usedOf(formatNumber(useCount), formatNumber(maxUses)),
    },
    { key: 'expires', label: words.columns.expires, cell: (each) => dayOf(each.expiresAt, language, new Date()) },
    {
      key: 'groups',
      label: words.columns.groups,
      cell: ({ groups }) =>
        groups.length === 0 ? <span class="soft">{words.noGroups}</span> : <code dir="ltr">{groups.join(' ')}</code>,
    },
    {
      key: 'actions',
      label: actions,
      isActions: true,
      cell: (invitation) => <Acts invitation={invitation} onAsk={onAsk} />,
    },
  ]
  return <Table caption={words.title} columns={columns} rows={invitations} keyOf={({ invitationId }) => invitationId} />
}

function Invited({ invitation: { kind, email, message, handle, identityId } }: { invitation: AccountInvitation }) {
  const words = useInvitationsMessages()
  // The username of an invited identity is certain, any other is only suggested.
  const detail = message ?? (identityId === null || handle === null ? undefined : atHandle(handle))
  return (
    <Person
      avatar={
        <span class="glyph sm">
          <Icon name={kind === 'mail' ? 'mail' : 'globe'} size="sm" />
        </span>
      }
      name={email ?? words.anyone}
      detail={detail && <bdi>{detail}</bdi>}
    />
  )
}

function Status({ of: { kind, status, mailedAt, nextMailAt, voidReason } }: { of: AccountInvitation }) {
  const words = useInvitationsMessages()
  if (voidReason !== null)
    return (
      <>
        <Chip tone={tones[status]}>{words.statuses[status]}</Chip>
        <div class="soft">
          <small>{words.voidReasons[voidReason]}</small>
        </div>
      </>
    )
  if (nextMailAt !== null && status === 'pending') return <Chip tone="wait">{words.mailing}</Chip>
  if (kind === 'mail' && mailedAt === null && status !== 'used')
    return (
      <Chip tone="bad" icon="triangle-alert">
        {words.notMailed}
      </Chip>
    )
  return <Chip tone={tones[status]}>{words.statuses[status]}</Chip>
}

/** Offers what is still possible: a used invitation stays as it is. */
function Acts({ invitation, onAsk }: { invitation: AccountInvitation } & Pick<Props, 'onAsk'>) {
  const words = useInvitationsMessages()
  const { kind, email, useCount, status } = invitation
  const items: MenuItem[] = []
  if (kind === 'mail' && useCount === 0 && status !== 'void')
    items.push({
      label: words.resend,
      icon: 'refresh-cw',
      action: 'ask-resend-invitation',
      onChoose: () => onAsk({ about: 'resend', invitation }),
    })
  if (status === 'pending' || status === 'void')
    items.push({
      label: words.revoke,
      icon: 'ban',
      danger: true,
      action: 'ask-revoke-invitation',
      onChoose: () => onAsk({ about: 'revoke', invitation }),
    })
  if (items.length === 0) return null
  return <Menu label={words.actions(isolate(email ?? words.anyone))} action="invitation-menu" items={items} />
}
