import type { Invitation, OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/frame/Root.tsx'
import { Spinner } from '../../../components/display/Facts.tsx'
import { type SignedAction, act, signedOrUnsigned } from '../session/acts.ts'
import { EditMember } from './ChangeMember.tsx'
import { Invitations } from './Invitations.tsx'
import { memberContext } from '../session/membership.ts'
import { MemberList, type MemberDialog } from './MemberList.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { RemoveMember, removeMember } from './RemoveMember.tsx'
import { callBusiness } from '../session/session.ts'
import { useBusinessMessages } from '../words.ts'

/** The members and the invitations. Only members who may invite receive the invitations. */
type People = { members: OrganizationMember[]; nextCursor: string | null; invitations: Invitation[] }

export function Members({ organization, identities, onLeft }: SectionProps) {
  const words = useBusinessMessages()
  const doing = useActions()
  const [people, setPeople] = useState<People>()
  const [question, setQuestion] = useState<MemberDialog>()
  const mayInvite = organization.scopes.includes('manage_identities')
  const read = {
    name: 'retry',
    label: words.retry,
    do: async () => setPeople(await readPeople(organization, mayInvite)),
  }
  useEffect(() => void doing.perform(read), [])

  if (!people)
    return (
      <section class="step">
        <h1>{words.sections.members}</h1>
        {doing.problem === undefined ? <Spinner /> : <Actions of={[read]} doing={doing} />}
      </section>
    )
  const updateMembers = (members: OrganizationMember[]) => {
    setPeople({ ...people, members })
    setQuestion(undefined)
  }
  const remove = async (how: SignedAction, { member, about }: MemberDialog) => {
    await removeMember(how, organization, { member, leaving: about === 'leave' })
    const others = people.members.filter((each) => each !== member)
    updateMembers(others)
    const own = identities.map(({ identityId }) => identityId)
    if (own.includes(member.identityId) && !others.some(({ identityId }) => own.includes(identityId))) onLeft()
  }
  const select = (requested: MemberDialog) => {
    if (requested.about === 'change') return setQuestion(requested)
    return signedOrUnsigned(
      (how) => remove(how, requested),
      () => setQuestion(requested),
    )
  }
  return (
    <>
      <section class="step">
        <h1>{words.sections.members}</h1>
        <MemberList organization={organization} identities={identities} members={people.members} onSelect={select} />
        <More
          organization={organization}
          after={people.nextCursor}
          onRead={(page) => setPeople({ ...people, ...page, members: [...people.members, ...page.members] })}
        />
      </section>
      {mayInvite && (
        <Invitations
          organization={organization}
          invitations={people.invitations}
          onChange={(invitations) => setPeople({ ...people, invitations })}
        />
      )}
      {question && (
        <Question
          of={question}
          organization={organization}
          onChanged={(changed) =>
            updateMembers(people.members.map((each) => (each.memberId === changed.memberId ? changed : each)))
          }
          onAgreed={() => remove(act, question)}
          onClose={() => setQuestion(undefined)}
        />
      )}
    </>
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

type MoreProps = {
  organization: OwnOrganization
  after: string | null
  onRead: (page: Awaited<ReturnType<typeof readMembers>>) => void
}

function More({ organization, after, onRead }: MoreProps) {
  const { activity } = useMessages()
  const doing = useActions()
  const more: Action = {
    name: 'more',
    label: activity.more,
    look: 'secondary',
    do: async () => onRead(await readMembers(organization, after)),
  }
  return after === null ? null : <Actions of={[more]} doing={doing} />
}

async function readPeople(organization: OwnOrganization, mayInvite: boolean): Promise<People> {
  const path = 'GET /api/organizations/:organizationId/invitations'
  const [page, { invitations }] = await Promise.all([
    readMembers(organization, null),
    mayInvite ? callBusiness(path, memberContext(organization)) : { invitations: [] },
  ])
  return { ...page, invitations }
}

/** Reads a hundred members after a cursor. */
async function readMembers(organization: OwnOrganization, cursor: string | null) {
  const { params, querystring } = memberContext(organization)
  const given = { params, querystring: { ...querystring, limit: '100', ...(cursor !== null && { cursor }) } }
  const { members, nextCursor = null } = await callBusiness('GET /api/organizations/:organizationId/members', given)
  return { members, nextCursor }
}
