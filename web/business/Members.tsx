import type { Invitation, OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../ui/Actions.tsx'
import { useDoing } from '../ui/doing.ts'
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
type People = { members: OrganizationMember[]; invitations: Invitation[] }

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
    const stays = (each: OrganizationMember) => each !== gone
    keep(people.members.filter(stays))
    const own = identities.map(({ identityId }) => identityId)
    if (!people.members.filter(stays).some(({ identityId }) => own.includes(identityId))) onLeft()
  }
  const given = { organization, onClose: () => setQuestion(undefined) }
  return (
    <>
      <section class="step">
        <h1>{words.sections.members}</h1>
        <MemberList organization={organization} identities={identities} members={people.members} onAsk={setQuestion} />
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

async function readPeople(organization: OwnOrganization, mayInvite: boolean): Promise<People> {
  const given = asMember(organization)
  const [{ members }, { invitations }] = await Promise.all([
    callBusiness('GET /api/organizations/:organizationId/members', given),
    mayInvite ? callBusiness('GET /api/organizations/:organizationId/invitations', given) : { invitations: [] },
  ])
  return { members, invitations }
}
