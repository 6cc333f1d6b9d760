import type { Council } from '@countersign/protocol/organizations/council'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { Card, Skeleton } from '../../../components/ui/Card.tsx'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import type { SectionProps } from '../OrganizationPage.tsx'
import { memberContext } from '../session/membership.ts'
import { callBusiness } from '../session/session.ts'
import { useBusinessMessages } from '../words.ts'
import { ApprovalsNeeded } from './ApprovalsNeeded.tsx'
import { type DescribedProposal, readProposals } from './proposal.ts'
import { Proposals } from './Proposals.tsx'
import { Reset } from './Reset.tsx'
import { canSign, Candidates, Signatories } from './Signatories.tsx'
import { useActMessages, useCouncilMessages } from './words.ts'

type Found = { council: Council; proposals: DescribedProposal[]; candidates: OrganizationMember[] }

/** The council of an organization: who signs and approves, what is proposed, and its end without approvals. */
export function CouncilSection({ organization }: SectionProps) {
  const business = useBusinessMessages()
  const acts = useActMessages()
  const words = useCouncilMessages()
  const doing = useActions()
  const [found, setFound] = useState<Found>()
  const read: Action = {
    name: 'retry',
    label: business.retry,
    do: async () => setFound(await readAll(organization, { acts, business })),
  }
  useEffect(() => void doing.perform(read), [])
  const needed = found?.council.approvalsNeeded ?? 0
  const hasCouncil = needed > 0
  return (
    <>
      <PageHead title={business.sections.council} lead={found && (hasCouncil ? words.what(needed) : words.none)} />
      {found === undefined && (
        <Card flush>{doing.problem === undefined ? <Skeleton rows={2} /> : <Actions of={[read]} doing={doing} />}</Card>
      )}
      {found && organization.scopes.includes('manage_org') && (
        <Card>
          <ApprovalsNeeded key={needed} organization={organization} present={needed} />
        </Card>
      )}
      {found && <Proposals organization={organization} proposals={found.proposals} onChanged={read.do} />}
      {found && hasCouncil && (
        <>
          <Signatories organization={organization} council={found.council} />
          <Candidates organization={organization} members={found.candidates} />
        </>
      )}
      {found && <Reset organization={organization} council={found.council} onChanged={read.do} />}
    </>
  )
}

type Words = Parameters<typeof readProposals>[1]

async function readAll(organization: OwnOrganization, words: Words): Promise<Found> {
  const given = memberContext(organization)
  const [{ council }, proposals] = await Promise.all([
    callBusiness('GET /api/organizations/:organizationId/council', given),
    readProposals(organization, words),
  ])
  // An organization may have very many members, and they matter only to a council.
  const isInForce = council.signatories.some(({ suspendedAt }) => suspendedAt === null)
  if (council.approvalsNeeded === 0 || !isInForce) return { council, proposals, candidates: [] }
  const candidates = (await readMembers(organization)).filter(
    (member) =>
      (canSign(member) || member.scopes.includes('approve')) &&
      !council.signatories.some((each) => each.identityId === member.identityId),
  )
  return { council, proposals, candidates }
}

async function readMembers(organization: OwnOrganization): Promise<OrganizationMember[]> {
  const { params, querystring } = memberContext(organization)
  const members: OrganizationMember[] = []
  let cursor: string | null = null
  do {
    const page: Record<string, string> = { limit: '100', ...(cursor !== null && { cursor }) }
    const given = { params, querystring: { ...querystring, ...page } }
    const found: { members: OrganizationMember[]; nextCursor?: string | null } = await callBusiness(
      'GET /api/organizations/:organizationId/members',
      given,
    )
    members.push(...found.members)
    cursor = found.nextCursor ?? null
  } while (cursor !== null)
  return members
}
