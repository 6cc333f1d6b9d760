import type { Invitation } from '@countersign/protocol/organizations/invitations'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useRef, useState } from 'preact/hooks'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Avatar, Person } from '../../../components/ui/Avatar.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Menu, type MenuItem } from '../../../components/ui/Menu.tsx'
import { type Column, Table } from '../../../components/ui/Table.tsx'
import { ApiError } from '../../../lib/api/call.ts'
import { keepFocus } from '../../../lib/focus.ts'
import { formatAgo, formatDayAlone } from '../../../lib/text/dates.ts'
import { act } from '../session/acts.ts'
import { memberContext } from '../session/membership.ts'
import { callBusiness } from '../session/session.ts'
import { useBusinessMessages, usePeopleMessages } from '../words.ts'
import { atHandle } from '../../../lib/text/handle.ts'

type Props = {
  organization: OwnOrganization
  invitations: Invitation[]
  onChange: (change: (present: Invitation[]) => Invitation[]) => void
  /** Called if an invitation is not open any more. It may have been accepted: then there is another member. */
  onStale: () => unknown
}

/** Lists the pending invitations, which can be mailed again and revoked. */
export function InvitationTable(given: Props) {
  const { invitations } = given
  const people = usePeopleMessages()
  const { problem, perform } = useSeveralActions()
  const columns = useColumns(useAnswers(given, perform))
  return (
    <>
      <ErrorMessage of={problem} />
      <Card flush>
        {invitations.length === 0 ? (
          <Empty icon="mail" title={people.noInvitations}>
            <p>{people.noInvitationsWhat}</p>
          </Empty>
        ) : (
          <Table
            caption={people.tabs.invitations}
            columns={columns}
            rows={invitations}
            keyOf={({ invitationId }) => invitationId}
          />
        )}
      </Card>
    </>
  )
}

type Answers = { revoke: (invitation: Invitation) => unknown; mail: (invitation: Invitation) => unknown }

/** What the menu of an invitation does. */
function useAnswers({ organization, onChange, onStale }: Omit<Props, 'invitations'>, perform: Perform): Answers {
  const people = usePeopleMessages()
  const { params, querystring } = memberContext(organization)
  const givenFor = ({ invitationId }: Invitation) => ({ params: { ...params, invitationId }, querystring })
  const revoke = async (invitation: Invitation) => {
    const given = { ...givenFor(invitation), body: null }
    await act('DELETE /api/organizations/:organizationId/invitations/:invitationId', given)
    toast(people.revoked)
    onChange((present) => present.filter(({ invitationId }) => invitationId !== invitation.invitationId))
  }
  const mail = async (invitation: Invitation) => {
    const path = 'POST /api/organizations/:organizationId/invitations/:invitationId/mail'
    const mailed = (await callBusiness(path, givenFor(invitation))).invitation
    toast(people.mailedAgain(mailed.email ?? ''))
    onChange((present) => present.map((each) => (each.invitationId === mailed.invitationId ? mailed : each)))
  }
  const answer = async (work: Answers[keyof Answers], invitation: Invitation) => {
    try {
      await work(invitation)
    } catch (error) {
      if (isGone(error)) await onStale()
      throw error
    }
  }
  return {
    // Members who sign leave the page for one revocation: another one would replace it.
    revoke: (invitation) => perform('revoke', () => answer(revoke, invitation)),
    mail: (invitation) => perform(`mail-${invitation.invitationId}`, () => answer(mail, invitation)),
  }
}

/** Starts work, unless work of the same name runs. */
type Perform = (name: string, work: () => Promise<void>) => void

/** Runs actions side by side, and stores the error of the last one: a mail server may take long to answer. */
function useSeveralActions(): { problem: unknown; perform: Perform } {
  const [problem, setProblem] = useState<unknown>()
  const running = useRef(new Set<string>())
  const perform: Perform = (name, work) => {
    if (running.current.has(name)) return
    running.current.add(name)
    setProblem(undefined)
    void keepFocus(work)
      .catch(setProblem)
      .finally(() => running.current.delete(name))
  }
  return { problem, perform }
}

function useColumns({ revoke, mail }: Answers): Column<Invitation>[] {
  const words = useBusinessMessages()
  const people = usePeopleMessages()
  const { language } = useLocale()
  const now = new Date()
  return [
    {
      key: 'invitee',
      label: people.invitee,
      cell: (invitation) => (
        <Person avatar={<Avatar name={bareName(invitation)} size="sm" />} name={inviteeOf(invitation)} />
      ),
    },
    { key: 'role', label: words.role, cell: ({ role }) => <Chip>{words.roles[role]}</Chip> },
    { key: 'by', label: people.by, cell: ({ invitedBy }) => invitedBy?.displayName ?? '' },
    {
      key: 'mail',
      label: people.mail,
      cell: ({ email, mailedAt }) =>
        mailedAt === null ? (
          <Chip tone={email === null ? 'mute' : 'wait'}>{email === null ? people.link : people.notMailed}</Chip>
        ) : (
          <Chip tone="ok" icon="mail">
            {people.mailed(formatAgo(mailedAt, language, now))}
          </Chip>
        ),
    },
    {
      key: 'expires',
      label: people.expires,
      cell: ({ expiresAt }) => <time dateTime={expiresAt}>{formatDayAlone(expiresAt, language, now)}</time>,
    },
    {
      key: 'actions',
      label: people.columns.actions,
      isActions: true,
      cell: (invitation) => {
        const named = { invitation, again: people.mailAgain, end: words.withdraw }
        const items = itemsFor(named, { revoke, mail })
        return <Menu label={people.more(inviteeOf(invitation))} action="invitation-menu" items={items} />
      },
    },
  ]
}

type Named = { invitation: Invitation; again: string; end: string }

/** An invitation to a username was not mailed. */
function itemsFor({ invitation, again, end }: Named, { revoke, mail }: Answers): MenuItem[] {
  const { invitationId, email } = invitation
  const mailing: MenuItem = {
    label: again,
    icon: 'mail',
    action: `mail-${invitationId}`,
    onChoose: () => mail(invitation),
  }
  const revoking: MenuItem = {
    label: end,
    icon: 'x',
    danger: true,
    action: `withdraw-${invitationId}`,
    onChoose: () => revoke(invitation),
  }
  return email === null ? [revoking] : [mailing, revoking]
}

function inviteeOf({ handle, email }: Invitation): string {
  return handle === null ? (email ?? '') : atHandle(handle)
}

function bareName({ handle, email }: Invitation): string {
  return handle ?? email ?? ''
}

/** Returns whether the invitation was already accepted, declined or revoked, or has expired. */
function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'invitation_not_found'
}
