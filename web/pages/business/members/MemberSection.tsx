import type { OrganizationRole } from '@countersign/protocol/formats/role'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Filter, Search } from '../../../components/ui/Table.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { type SignedAction, act, signedOrUnsigned } from '../session/acts.ts'
import { useBusinessMessages, usePeopleMessages } from '../words.ts'
import { EditMember } from './ChangeMember.tsx'
import { type MemberDialog, MemberTable } from './MemberTable.tsx'
import { type MemberFilter, type MemberPage, noFilter, readMembers } from './people.ts'
import { RemoveMember, removeMember } from './RemoveMember.tsx'

type Props = Omit<SectionProps, 'onChanged'> & {
  /** The first page of all members. */
  first: MemberPage
  /** Called with the members that are shown after a change. */
  onChanged: (page: MemberPage) => void
}

const pauseMilliseconds = 250

/** Finds members, and edits and removes them. */
export function MemberSection({ organization, identities, onLeft, first, onChanged }: Props) {
  const words = useBusinessMessages()
  const people = usePeopleMessages()
  const doing = useActions()
  const [filter, setFilter] = useState(noFilter)
  const [found, setFound] = useState<{ filter: MemberFilter; page: MemberPage }>()
  const [question, setQuestion] = useState<MemberDialog>()
  const latest = useRef(filter)
  latest.current = filter
  const isFiltered = filter.q.trim() !== '' || filter.role !== 'all'
  useEffect(() => {
    if (!isFiltered) return
    const timer = setTimeout(() => {
      void readMembers(organization, filter).then(
        (page) => latest.current === filter && setFound({ filter, page }),
        (error: unknown) => doing.perform({ name: 'search', do: () => Promise.reject(error) }),
      )
    }, pauseMilliseconds)
    return () => clearTimeout(timer)
  }, [filter])
  const page = isFiltered ? (found?.page ?? first) : first
  const update = (next: MemberPage) => {
    if (isFiltered) setFound({ filter, page: next })
    onChanged(isFiltered ? withChanges(first, next, page) : next)
    setQuestion(undefined)
  }
  const more: Action = {
    name: 'more',
    label: people.showMore,
    look: 'secondary',
    do: async () => {
      const next = await readMembers(organization, filter, page)
      if (isFiltered) setFound({ filter, page: next })
      else onChanged(next)
    },
  }
  const remove = async (how: SignedAction, { member, about }: MemberDialog) => {
    await removeMember(how, organization, { member, leaving: about === 'leave' })
    const members = page.members.filter((each) => each !== member)
    const own = identities.map(({ identityId }) => identityId)
    const isGone = own.includes(member.identityId) && !members.some(({ identityId }) => own.includes(identityId))
    update({ ...page, members, total: page.total - 1 })
    if (isGone) onLeft(member.memberId)
  }
  const select = (requested: MemberDialog) => {
    if (requested.about === 'change') return setQuestion(requested)
    return doing.perform({
      name: requested.about,
      do: () =>
        signedOrUnsigned(
          (how) => remove(how, requested),
          () => setQuestion(requested),
        ),
    })
  }
  const roles = Object.entries(words.roles).filter((entry): entry is [OrganizationRole, string] => isRole(entry[0]))
  const seesEmails = organization.scopes.includes('manage_identities')
  return (
    <>
      <ErrorMessage of={doing.problem} />
      <Card flush>
        <div class="toolbar">
          <Search
            label={seesEmails ? people.search : people.searchNames}
            value={filter.q}
            action="search-members"
            onInput={(q) => setFilter({ ...filter, q })}
          />
          <Filter
            label={words.role}
            of={[
              { value: 'all' as const, label: people.everyRole },
              ...roles.map(([value, label]) => ({ value, label })),
            ]}
            chosen={filter.role}
            onChoose={(role) => setFilter({ ...filter, role })}
          />
        </div>
        {page.members.length === 0 ? (
          <Empty icon="users" title={people.noMatch}>
            <p>{people.noMatchWhat}</p>
            <button type="button" class="button" onClick={() => setFilter(noFilter)}>
              {people.clear}
            </button>
          </Empty>
        ) : (
          <MemberTable
            organization={organization}
            identities={identities}
            members={page.members}
            onSelect={(requested) => void select(requested)}
          />
        )}
        <div class="card-foot">
          <span role="status">{people.shown(page.members.length, page.total)}</span>
          {page.nextCursor !== null && <ActionButton action={more} doing={doing} />}
        </div>
      </Card>
      {question?.about === 'change' && (
        <EditMember
          organization={organization}
          member={question.member}
          onChanged={(changed) =>
            update({
              ...page,
              members: page.members.map((each) => (each.memberId === changed.memberId ? changed : each)),
            })
          }
          onClose={() => setQuestion(undefined)}
        />
      )}
      {question && question.about !== 'change' && (
        <RemoveMember
          organization={organization}
          member={question.member}
          leaving={question.about === 'leave'}
          onAgreed={() => remove(act, question)}
          onClose={() => setQuestion(undefined)}
        />
      )}
    </>
  )
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
