import type { Invitation, OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../ui/Actions.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { useWords } from '../ui/Root.tsx'
import { Waiting } from '../ui/Waiting.tsx'
import { ChangeMember } from './ChangeMember.tsx'
import { Invitations } from './Invitations.tsx'
import { asMember } from './memberships.ts'
import { MemberList, type MemberQuestion } from './MemberList.tsx'
import type { SectionProps } from './OrganizationPage.tsx'
import { RemoveMember } from './RemoveMember.tsx'
import { callBusiness } from './session.ts'
import { useBusinessWords } from './words.ts'

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
  const remove = (gone: OrganizationMember) => {
    const others = people.members.filter((each) => each !== gone)
    keep(others)
    const own = identities.map(({ identityId }) => identityId)
    if (own.includes(gone.identityId) && !others.some(({ identityId }) => own.includes(identityId))) onLeft()
  }
  const given = { organization, onClose: () => setQuestion(undefined) }
  return (
    <>
      <section class="step">
        <h1>{words.sections.members}</h1>
        <MemberList organization={organization} identities={identities} members={people.members} onAsk={setQuestion} />
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
      {question?.about === 'change' && (
        <ChangeMember
          {...given}
          member={question.member}
          onChanged={(changed) =>
            keep(people.members.map((each) => (each.memberId === changed.memberId ? changed : each)))
          }
        />
      )}
      {(question?.about === 'remove' || question?.about === 'leave') && (
        <RemoveMember
          {...given}
          member={question.member}
          leaving={question.about === 'leave'}
          onRemoved={() => remove(question.member)}
        />
      )}
    </>
  )
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
