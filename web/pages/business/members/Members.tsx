import type { Invitation, OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useWords } from '../../../components/frame/Root.tsx'
import { Waiting } from '../../../components/display/Waiting.tsx'
import { act, signedOr, type Act } from '../session/acts.ts'
import { ChangeMember } from './ChangeMember.tsx'
import { Invitations } from './Invitations.tsx'
import { asMember } from '../session/memberships.ts'
import { MemberList, type MemberQuestion } from './MemberList.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { removeMember } from './removal.ts'
import { RemoveMember } from './RemoveMember.tsx'
import { callBusiness } from '../session/session.ts'
import { useBusinessWords } from '../words.ts'

/** Who is in an organization, and who is invited; the latter is told to those who may invite. */
type People = { members: OrganizationMember[]; nextCursor: string | null; invitations: Invitation[] }

export function Members({ organization, identities, onLeft }: SectionProps) {
  const words = useBusinessWords()
  const doing = useDoing()
  const [people, setPeople] = useState<People>()
  const [question, setQuestion] = useState<MemberQuestion>()
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
        {doing.problem === undefined ? <Waiting /> : <Actions of={[read]} doing={doing} />}
      </section>
    )
  const keep = (members: OrganizationMember[]) => {
    setPeople({ ...people, members })
    setQuestion(undefined)
  }
  const remove = async (how: Act, { member, about }: MemberQuestion) => {
    await removeMember(how, organization, { member, leaving: about === 'leave' })
    const others = people.members.filter((each) => each !== member)
    keep(others)
    const own = identities.map(({ identityId }) => identityId)
    if (own.includes(member.identityId) && !others.some(({ identityId }) => own.includes(identityId))) onLeft()
  }
  const ask = (asked: MemberQuestion) => {
    if (asked.about === 'change') return setQuestion(asked)
    return signedOr(
      (how) => remove(how, asked),
      () => setQuestion(asked),
    )
  }
  return (
    <>
      <section class="step">
        <h1>{words.sections.members}</h1>
        <MemberList organization={organization} identities={identities} members={people.members} onAsk={ask} />
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
            keep(people.members.map((each) => (each.memberId === changed.memberId ? changed : each)))
          }
          onAgreed={() => remove(act, question)}
          onClose={() => setQuestion(undefined)}
        />
      )}
    </>
  )
}

type QuestionProps = Omit<Parameters<typeof ChangeMember>[0], 'member'> & {
  of: MemberQuestion
  onAgreed: () => Promise<void>
}

function Question({ of: { about, member }, onChanged, onAgreed, ...given }: QuestionProps) {
  if (about === 'change') return <ChangeMember {...given} member={member} onChanged={onChanged} />
  return <RemoveMember {...given} member={member} leaving={about === 'leave'} onAgreed={onAgreed} />
}

type MoreProps = {
  organization: OwnOrganization
  after: string | null
  onRead: (page: Awaited<ReturnType<typeof readMembers>>) => void
}

function More({ organization, after, onRead }: MoreProps) {
  const { activity } = useWords()
  const doing = useDoing()
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
    mayInvite ? callBusiness(path, asMember(organization)) : { invitations: [] },
  ])
  return { ...page, invitations }
}

/** A hundred members, beginning after one. */
async function readMembers(organization: OwnOrganization, cursor: string | null) {
  const { params, querystring } = asMember(organization)
  const given = { params, querystring: { ...querystring, limit: '100', ...(cursor !== null && { cursor }) } }
  const { members, nextCursor = null } = await callBusiness('GET /api/organizations/:organizationId/members', given)
  return { members, nextCursor }
}
