import type { OrganizationMember } from '@countersign/protocol/organizations/organizations'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import { useState } from 'preact/hooks'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import type { Action } from '../../../components/form/use-actions.ts'
import { useLatestRead } from '../../../components/form/use-latest-read.ts'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Filter, Search } from '../../../components/ui/Table.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { type SignedAction, act, signedOrUnsigned } from '../session/acts.ts'
import { useBusinessMessages, usePeopleMessages } from '../words.ts'
import { hasKeptInput } from '../session/kept-input.ts'
import { EditMember } from './ChangeMember.tsx'
import { type MemberDialog, MemberTable } from './MemberTable.tsx'
import { formOf, type MemberFilter, type MemberPage, noFilter, readMembers } from './people.ts'
import { RemoveMember, removeMember } from './RemoveMember.tsx'

type Props = Omit<SectionProps, 'onChanged'> & {
  /** The first page of all members. */
  first: MemberPage
  /** The member whose change the user went away to sign, and has not signed. */
  unfinished: OrganizationMember | undefined
  /** Called with the members that are shown after a change. */
  onChanged: (page: MemberPage) => void
}

const pauseMilliseconds = 250

/** Finds members, and edits and removes them. */
export function MemberSection({ organization, identities, onLeft, first, unfinished, onChanged }: Props) {
  const people = usePeopleMessages()
  const [question, setQuestion] = useState(() => unfinishedChange(unfinished))
  const { filter, setFilter, page, show, doing } = useFoundMembers(organization, { first, onChanged })
  const update = (next: MemberPage) => {
    show(next)
    setQuestion(undefined)
  }
  const more: Action = {
    name: 'more',
    label: people.showMore,
    look: 'secondary',
    do: async () => show(await readMembers(organization, filter, page)),
  }
  const remove = async (how: SignedAction, { member, about }: MemberDialog) => {
    await removeMember(how, organization, { member, leaving: about === 'leave' })
    const members = page.members.filter((each) => each !== member)
    const own = identities.map(({ identityId }) => identityId)
    const isGone = own.includes(member.identityId) && !members.some(({ identityId }) => own.includes(identityId))
    update({ ...page, members, total: page.total - 1 })
    if (isGone) onLeft(member.memberId)
  }
  const removeOrAsk = (requested: MemberDialog) =>
    signedOrUnsigned(
      (how) => remove(how, requested),
      () => setQuestion(requested),
    )
  const select = (requested: MemberDialog) => {
    if (requested.about === 'change') return setQuestion(requested)
    void doing.perform({ name: requested.about, do: () => removeOrAsk(requested) })
  }
  return (
    <>
      <ErrorMessage of={doing.problem} />
      <Card flush>
        <Toolbar organization={organization} filter={filter} onFilter={setFilter} />
        {page.members.length === 0 ? (
          <NoMatch onClear={() => setFilter(noFilter)} />
        ) : (
          <MemberTable organization={organization} identities={identities} members={page.members} onSelect={select} />
        )}
        <div class="card-foot">
          <span role="status">{people.shown(page.members.length, page.total)}</span>
          {page.nextCursor !== null && <ActionButton action={more} doing={doing} />}
        </div>
      </Card>
      {question && (
        <Question
          of={question}
          organization={organization}
          onChanged={(changed) =>
            update({
              ...page,
              members: page.members.map((each) => (each.memberId === changed.memberId ? changed : each)),
            })
          }
          onAgreed={() => remove(act, question)}
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

/** Finds the members that match, a moment after the last change of the filter. `show` shows others after a change. */
function useFoundMembers(
  organization: Props['organization'],
  { first, onChanged }: Pick<Props, 'first' | 'onChanged'>,
) {
  const [filter, setFilter] = useState(noFilter)
  const [found, setFound] = useState<MemberPage>()
  const isFiltered = filter.q.trim() !== '' || filter.role !== 'all'
  const search = {
    read: isFiltered ? () => readMembers(organization, filter) : undefined,
    onRead: setFound,
    delayMilliseconds: pauseMilliseconds,
  }
  const { doing } = useLatestRead(search, [filter])
  const page = isFiltered ? (found ?? first) : first
  const show = (next: MemberPage) => {
    // A late answer for another filter is not shown.
    if (isFiltered) setFound((current) => (current === found ? next : current))
    onChanged(isFiltered ? withChanges(first, next, page) : next)
  }
  return { filter, setFilter, page, show, doing }
}

type ToolbarProps = Pick<Props, 'organization'> & { filter: MemberFilter; onFilter: (filter: MemberFilter) => void }

function Toolbar({ organization, filter, onFilter }: ToolbarProps) {
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

function NoMatch({ onClear }: { onClear: () => void }) {
  const people = usePeopleMessages()
  return (
    <Empty icon="users" title={people.noMatch}>
      <p>{people.noMatchWhat}</p>
      <button type="button" class="button" onClick={onClear}>
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

/** Applies what changed in a filtered list to the list of all. */
function withChanges(all: MemberPage, after: MemberPage, before: MemberPage): MemberPage {
  const removed = before.members.filter(({ memberId }) => !after.members.some((each) => each.memberId === memberId))
  const members = all.members
    .filter(({ memberId }) => !removed.some((each) => each.memberId === memberId))
    .map((member) => after.members.find(({ memberId }) => memberId === member.memberId) ?? member)
  return { ...all, members, total: all.total - removed.length }
}

function isRole(name: string): name is OrganizationRole {
  return ['owner', 'admin', 'signer', 'member', 'viewer'].includes(name)
}
