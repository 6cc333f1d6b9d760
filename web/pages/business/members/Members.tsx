import type { Invitation } from '@countersign/protocol/organizations/invitations'
import type { OrganizationMember } from '@countersign/protocol/organizations/organizations'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useLatestRead } from '../../../components/form/use-latest-read.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { Card, Skeleton } from '../../../components/ui/Card.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { Tabs } from '../../../components/ui/Tabs.tsx'
import { reportUnexpected } from '../../../lib/api/error-message.ts'
import { downloadFile } from '../../../lib/download.ts'
import type { SectionProps } from '../OrganizationPage.tsx'
import { routePath } from '../routes.ts'
import { useBusinessMessages, usePeopleMessages } from '../words.ts'
import { InvitationTable } from './InvitationTable.tsx'
import { Invite } from './Invite.tsx'
import { MemberSection } from './MemberSection.tsx'
import {
  type MemberPage,
  noFilter,
  readAllMembers,
  readInvitations,
  readShownMembers,
  readUnfinishedMember,
  toCsv,
} from './people.ts'
import { useInviting } from './use-inviting.ts'

type People = { page: MemberPage; invitations: Invitation[]; unfinished: OrganizationMember | undefined }

const views = ['members', 'invitations'] as const
type View = (typeof views)[number]

/** The members of an organization, and the invitations for those who may invite. */
export function Members(section: SectionProps) {
  const { organization, returned } = section
  const { found, read, doing, change, changeInvitations, readInvitationsAgain } = usePeople(organization)
  const [view, setView] = useState<View>(location.hash === '#invitations' ? 'invitations' : 'members')
  const { rest, inviting, setInviting } = useInviting({ organization, returned })
  return (
    <>
      <Head organization={organization} found={found} onInvite={() => setInviting(true)} />
      {found && <Views organization={organization} found={found} view={view} onShow={setView} />}
      {!found && (
        <Card flush>{doing.problem === undefined ? <Skeleton rows={5} /> : <Actions of={[read]} doing={doing} />}</Card>
      )}
      {found && view === 'members' && (
        <MemberSection
          {...section}
          first={found.page}
          unfinished={found.unfinished}
          onPageChanged={(changed) => change(({ page }) => ({ page: changed(page) }))}
          onPermissionsChanged={readInvitationsAgain}
        />
      )}
      {found && view === 'invitations' && (
        <InvitationTable
          organization={organization}
          invitations={found.invitations}
          onChange={changeInvitations}
          onStale={read.do}
        />
      )}
      {inviting && (
        <Invite
          organization={organization}
          rest={rest}
          onInvited={(made) => changeInvitations((present) => withNew(present, made))}
          onClose={() => setInviting(false)}
        />
      )}
    </>
  )
}

/** Adds new invitations, of which the list may have some already if it was read while others were made. */
function withNew(present: Invitation[], made: Invitation[]): Invitation[] {
  const others = present.filter(({ invitationId }) => !made.some((each) => each.invitationId === invitationId))
  return [...made, ...others]
}

/** Reads the members and the invitations, which may change while one of them is read. */
function usePeople(organization: SectionProps['organization']) {
  const words = useBusinessMessages()
  const doing = useActions()
  const [found, setFound] = useState<People>()
  const read: Action = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const [page, invitations, unfinished] = await Promise.all([
        readShownMembers(organization, found?.page.members.length ?? 0),
        readInvitations(organization),
        readUnfinishedMember(organization),
      ])
      setFound({ page, invitations, unfinished })
    },
  }
  useEffect(() => void doing.perform(read), [])
  // Something else may have changed since the request began whose answer changes this.
  const change = (changed: (present: People) => Partial<People>) =>
    setFound((present) => present && { ...present, ...changed(present) })
  const changes = useRef(0)
  const changeInvitations = (changed: (present: Invitation[]) => Invitation[]) => {
    changes.current += 1
    change(({ invitations }) => ({ invitations: changed(invitations) }))
  }
  /** Reads once more if the user has changed something meanwhile: the answer may be older. */
  const readPresentInvitations = async (): Promise<Invitation[]> => {
    const before = changes.current
    const invitations = await readInvitations(organization)
    return before === changes.current ? invitations : readPresentInvitations()
  }
  // The invitations of a member end with what let them invite. If this read fails, the change is done nevertheless.
  const { readAgain } = useLatestRead(
    {
      read: found && (() => readPresentInvitations().catch(reportUnexpected)),
      onRead: (invitations) => invitations && change(() => ({ invitations })),
    },
    [],
  )
  return { found, read, doing, change, changeInvitations, readInvitationsAgain: readAgain }
}

type HeadProps = Pick<SectionProps, 'organization'> & { found: People | undefined; onInvite: () => void }

/** Until the members are there, the title stands alone: what comes with them moves nothing. */
function Head({ organization, found, onInvite }: HeadProps) {
  const words = useBusinessMessages()
  const people = usePeopleMessages()
  const exporting = useActions()
  const mayInvite = organization.scopes.includes('manage_identities')
  const save: Action = {
    name: 'export-members',
    label: people.export,
    look: 'secondary',
    icon: 'download',
    do: async () => {
      const members = await readAllMembers(organization, noFilter)
      const { name, handle, email, role, permissions, joined } = people.csv
      const rows = members.map((member) => [
        member.displayName,
        member.handle,
        member.email ?? '',
        words.roles[member.role],
        member.scopes.map((scope) => words.scopes[scope]).join('; '),
        member.joinedAt,
      ])
      const text = toCsv([[name, handle, email, role, permissions, joined], ...rows])
      downloadFile(text, 'text/csv', `${organization.slug}-members.csv`)
    },
  }
  const actions = (
    <>
      <ActionButton action={save} doing={exporting} />
      {mayInvite && (
        <button type="button" class="button primary" data-action="invite" aria-haspopup="dialog" onClick={onInvite}>
          <Icon name="user-plus" size="sm" />
          {words.invite}
        </button>
      )}
    </>
  )
  return (
    <>
      <PageHead
        title={words.sections.members}
        lead={found && people.lead(found.page.total, mayInvite ? found.invitations.length : undefined)}
        actions={found && actions}
      />
      <ErrorMessage of={exporting.problem} />
    </>
  )
}

type ViewsProps = Pick<SectionProps, 'organization'> & { found: People; view: View; onShow: (view: View) => void }

/** The tabs, for members who may invite. */
function Views({ organization, found, view, onShow }: ViewsProps) {
  const words = useBusinessMessages()
  const people = usePeopleMessages()
  if (!organization.scopes.includes('manage_identities')) return null
  const path = routePath({ at: 'organization', organizationId: organization.id, section: 'members' })
  const show = (next: View) => {
    history.replaceState(null, '', next === 'members' ? location.pathname : `#${next}`)
    onShow(next)
  }
  return (
    <Tabs
      label={words.sections.members}
      tabs={views.map((each) => ({
        label: people.tabs[each],
        href: each === 'members' ? path : `${path}#${each}`,
        current: each === view,
        action: `show-${each}`,
        onFollow: () => show(each),
        count: each === 'members' ? found.page.total : found.invitations.length,
      }))}
    />
  )
}
