import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { type EventPage, noFilter as everyEvent, readEvents } from '../activity/read-events.ts'
import { noFilter, readInvitations, readMembers } from '../members/people.ts'
import type { Section } from '../sections.ts'
import { memberContext } from '../session/membership.ts'
import { callBusiness } from '../session/session.ts'

export type Check = { name: 'owners' | 'domain' | 'sso' | 'signing' | 'logo'; isDone: boolean; section: Section }

/** What the overview shows, as far as the role of the user permits. */
export type OverviewFacts = {
  members: number
  owners: number
  invitations: number | undefined
  waiting: number
  checks: Check[]
  recent: EventPage | undefined
}

const recentEvents = '5'

export async function readFacts(organization: OwnOrganization): Promise<OverviewFacts> {
  const may = (scope: OwnOrganization['scopes'][number]) => organization.scopes.includes(scope)
  const place = memberContext(organization)
  const path = '/api/organizations/:organizationId'
  const [members, owners, invitations, documents, recent, domains, connections] = await Promise.all([
    readMembers(organization, noFilter),
    readMembers(organization, { ...noFilter, role: 'owner' }),
    may('manage_identities') ? readInvitations(organization) : undefined,
    callBusiness(`GET ${path}/signing-requests`, {
      ...place,
      querystring: { ...place.querystring, state: 'waiting', limit: '1' },
    }),
    may('manage_org') ? readEvents(organization, everyEvent, { limit: recentEvents }) : undefined,
    may('manage_sso') ? callBusiness(`GET ${path}/domains`, place) : undefined,
    may('manage_sso') ? callBusiness(`GET ${path}/sso-connections`, place) : undefined,
  ])
  const checks: (Check | undefined)[] = [
    may('manage_org') ? { name: 'owners', isDone: owners.total >= ownersMin, section: 'members' } : undefined,
    domains && {
      name: 'domain',
      isDone: domains.domains.some(({ verifiedAt }) => verifiedAt !== null),
      section: 'domains',
    },
    connections && { name: 'sso', isDone: connections.connections.some(({ inUse }) => inUse), section: 'sso' },
    may('manage_org') ? { name: 'signing', isDone: organization.requireSignedActions, section: 'settings' } : undefined,
    may('manage_org') ? { name: 'logo', isDone: organization.logoUrl !== null, section: 'settings' } : undefined,
  ]
  return {
    members: members.total,
    owners: owners.total,
    invitations: invitations?.length,
    waiting: documents.waiting,
    checks: checks.filter((check) => check !== undefined),
    recent,
  }
}

/** If one owner loses access, another one can still act. */
const ownersMin = 2
