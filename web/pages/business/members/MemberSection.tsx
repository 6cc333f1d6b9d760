import type { OrganizationMember } from '@countersign/protocol/organizations/organizations'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { Ref, RefObject } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useLatestRead } from '../../../components/form/use-latest-read.ts'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { useMessages } from '../../../components/frame/Root.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Filter, Search } from '../../../components/ui/Table.tsx'
import { ApiError } from '../../../lib/api/call.ts'
import { keepFocus } from '../../../lib/focus.ts'
import type { SectionProps } from '../OrganizationPage.tsx'
import { type SignedAction, act, signedOrUnsigned } from '../session/acts.ts'
import { useBusinessMessages, usePeopleMessages } from '../words.ts'
import { hasKeptInput } from '../session/kept-input.ts'
import { EditMember } from './ChangeMember.tsx'
import { type MemberDialog, MemberTable } from './MemberTable.tsx'
import { formOf, type MemberFilter, type MemberPage, noFilter, readMember, readMembers } from './people.ts'
import { RemoveMember, removeMember } from './RemoveMember.tsx'

type PageChange = (page: MemberPage) => MemberPage

type Props = SectionProps & {
  /** The first page of all members. */
  first: MemberPage
  /** The member whose change the user went away to sign, and has not signed. */
  unfinished: OrganizationMember | undefined
  /** Called with what changes the members that are shown. */
  onPageChanged: (change: PageChange) => void
  /** Called after a member was changed or removed. */
  onPermissionsChanged: () => void
}

const pauseMilliseconds = 250

/** Finds members, and edits and removes them. */
export function MemberSection(section: Props) {
  const { organization, identities, onLeft, onMemberChanged, onPermissionsChanged, unfinished } = section
  const people = usePeopleMessages()
  const { frame } = useMessages()
  const [question, setQuestion] = useState(() => unfinishedChange(unfinished))
  const { filter, setFilter, page, readMore, replace, remove, doing } = useFoundMembers(section)
  const search = useRef<HTMLInputElement>(null)
  /** What the menus of the members start. It does not wait for reads of the list. */
  const selecting = useActions()
  const more: Action = { name: 'more', label: people.showMore, look: 'secondary', do: readMore }
  const removeAs = async (how: SignedAction, { member, about }: MemberDialog) => {
    await removeMember(how, organization, { member, leaving: about === 'leave' })
    remove(member)
    setQuestion(undefined)
    onPermissionsChanged()
    if (identities.some(({ identityId }) => identityId === member.identityId)) onLeft(member.memberId)
  }
  const removeOrAsk = (requested: MemberDialog) =>
    signedOrUnsigned(
      (how) => removeAs(how, requested),
      () => setQuestion(requested),
    )
  // Another admin may have changed or removed the member since the list was read.
  const edit = async (listed: OrganizationMember) => {
    const member = await readMember(organization, listed).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'member_not_found') remove(listed)
      throw error
    })
    replace(member)
    setQuestion({ about: 'change', member })
  }
  const select = (requested: MemberDialog) => {
    const open = () => (requested.about === 'change' ? edit(requested.member) : removeOrAsk(requested))
    // The row of the member may go away, and its menu with it.
    void selecting.perform({ name: requested.about, do: () => keepFocus(open) })
  }
  return (
    <>
      <ErrorMessage of={selecting.problem ?? doing.problem} />
      <Card flush>
        <Toolbar organization={organization} filter={filter} search={search} onFilter={setFilter} />
        {page.members.length === 0 ? (
          <NoMatch search={search} onClear={() => setFilter(noFilter)} />
        ) : (
          <MemberTable organization={organization} identities={identities} members={page.members} onSelect={select} />
        )}
        <div class="card-foot">
          <span role="status">
            {selecting.current === undefined ? people.shown(page.members.length, page.total) : frame.moment}
          </span>
          {page.nextCursor !== null && <ActionButton action={more} doing={doing} />}
        </div>
      </Card>
      {question && (
        <Question
          of={question}
          organization={organization}
          onChanged={(changed) => {
            replace(changed)
            setQuestion(undefined)
            onMemberChanged(changed)
            onPermissionsChanged()
          }}
          onAgreed={() => removeAs(act, question)}
          onClose={() => setQuestion(undefined)}
        />
      )}
    </>
  )
}

/** Returns the change of a member, unless its form has been shown again before. */
function unfinishedChange(member: OrganizationMember | undefined): MemberDialog | undefined {
  return member && hasKeptInput(formOf(member)) ? { about: 'change', member } : undefined
}

/**
 * Finds the members that match, a moment after the last change of the filter. What is found and the list of all may
 * have changed since the request began whose answer changes them.
 */
function useFoundMembers({
  organization,
  first,
  onPageChanged,
}: Pick<Props, 'organization' | 'first' | 'onPageChanged'>) {
  const [filter, setFilter] = useState(noFilter)
  const [found, setFound] = useState<{ filter: MemberFilter; page: MemberPage }>()
  const isFiltered = filter.q.trim() !== '' || filter.role !== 'all'
  const search = {
    read: isFiltered ? async () => ({ filter, page: await readMembers(organization, filter) }) : undefined,
    onRead: setFound,
    delayMilliseconds: pauseMilliseconds,
  }
  const { doing } = useLatestRead(search, [filter])
  const page = isFiltered ? (found?.page ?? first) : first
  const changeFound = (change: PageChange) =>
    setFound((present) => present && { ...present, page: change(present.page) })
  const readMore = async () => {
    const longer = await readMembers(organization, filter, page)
    const append: PageChange = (present) => withMore(present, longer, page)
    if (!isFiltered) return onPageChanged(append)
    setFound((present) => (present?.filter === filter ? { filter, page: append(present.page) } : present))
  }
  const replace = (member: OrganizationMember) => {
    const change: PageChange = (present) => withReplaced(present, member)
    changeFound(change)
    onPageChanged(change)
  }
  const remove = (member: OrganizationMember) => {
    changeFound((present) => withoutMember(present, member))
    // Members beyond those that are shown count too.
    onPageChanged((all) => ({ ...withoutMember(all, member), total: all.total - 1 }))
  }
  return { filter, setFilter, page, readMore, replace, remove, doing }
}

type ToolbarProps = Pick<Props, 'organization'> & {
  filter: MemberFilter
  search: Ref<HTMLInputElement>
  onFilter: (filter: MemberFilter) => void
}

function Toolbar({ organization, filter, search, onFilter }: ToolbarProps) {
  const words = useBusinessMessages()
  const people = usePeopleMessages()
  const roles = Object.entries(words.roles).filter((entry): entry is [OrganizationRole, string] => isRole(entry[0]))
  const seesEmails = organization.scopes.includes('manage_identities')
  return (
    <div class="toolbar">
      <Search
        label={seesEmails ? people.search : people.searchNames}
        value={filter.q}
        action="search-members"
        field={search}
        onInput={(q) => onFilter({ ...filter, q })}
      />
      <Filter
        label={words.role}
        of={[{ value: 'all' as const, label: people.everyRole }, ...roles.map(([value, label]) => ({ value, label }))]}
        chosen={filter.role}
        onChoose={(role) => onFilter({ ...filter, role })}
      />
    </div>
  )
}

function NoMatch({ search, onClear }: { search: RefObject<HTMLInputElement | null>; onClear: () => void }) {
  const people = usePeopleMessages()
  const clear = () => {
    onClear()
    // The button that has the focus goes away.
    search.current?.focus()
  }
  return (
    <Empty icon="users" title={people.noMatch}>
      <p>{people.noMatchWhat}</p>
      <button type="button" class="button" data-action="clear-filters" onClick={clear}>
        {people.clear}
      </button>
    </Empty>
  )
}

type QuestionProps = Omit<Parameters<typeof EditMember>[0], 'member'> & {
  of: MemberDialog
  onAgreed: () => Promise<void>
}

function Question({ of: { about, member }, onChanged, onAgreed, ...given }: QuestionProps) {
  if (about === 'change') return <EditMember {...given} member={member} onChanged={onChanged} />
  return <RemoveMember {...given} member={member} leaving={about === 'leave'} onAgreed={onAgreed} />
}

/** Appends what was read after `before`, unless more has been read since. */
function withMore(present: MemberPage, longer: MemberPage, before: MemberPage): MemberPage {
  if (present.nextCursor !== before.nextCursor) return present
  const added = longer.members.slice(before.members.length)
  return { ...present, members: [...present.members, ...added], nextCursor: longer.nextCursor }
}

function withReplaced(page: MemberPage, member: OrganizationMember): MemberPage {
  return { ...page, members: page.members.map((each) => (each.memberId === member.memberId ? member : each)) }
}

function withoutMember(page: MemberPage, { memberId }: OrganizationMember): MemberPage {
  const members = page.members.filter((each) => each.memberId !== memberId)
  return { ...page, members, total: page.total - (page.members.length - members.length) }
}

function isRole(name: string): name is OrganizationRole {
  return ['owner', 'admin', 'signer', 'member', 'viewer'].includes(name)
}
