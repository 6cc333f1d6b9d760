import { scopesOfRole } from '@countersign/protocol/formats/role'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'

const ranks = Object.keys(scopesOfRole)

/** Each organization once, though several of a person's names may be members: as the one with the highest role. */
export function eachOnce(memberships: OwnOrganization[]): OwnOrganization[] {
  const highestFirst = memberships.toSorted((one, other) => ranks.indexOf(one.role) - ranks.indexOf(other.role))
  const highest = new Map(highestFirst.toReversed().map((membership) => [membership.id, membership]))
  return memberships.filter((membership) => highest.get(membership.id) === membership)
}

/** What has changed of an organization, for each of the person's names there: what each is and may do stays its own. */
export function withChange(memberships: OwnOrganization[], changed: OwnOrganization): OwnOrganization[] {
  return memberships.map((each) => {
    if (each.id !== changed.id) return each
    const { memberId, identityId, role, scopes, signingAuthority } = each
    return { ...changed, memberId, identityId, role, scopes, signingAuthority }
  })
}

/** The parts of a call that say of which organization it is, and as which name of the person. */
export function asMember({ id, identityId }: Pick<OwnOrganization, 'id' | 'identityId'>) {
  return { params: { organizationId: id }, querystring: { identity_id: identityId } }
}

/** The same of one of its members. */
export function aboutMember(organization: Parameters<typeof asMember>[0], { memberId }: { memberId: string }) {
  const { params, querystring } = asMember(organization)
  return { params: { ...params, memberId }, querystring }
}

/** The same of one of its connections to its own sign-in. */
export function aboutConnection(
  organization: Parameters<typeof asMember>[0],
  { connectionId }: { connectionId: string },
) {
  const { params, querystring } = asMember(organization)
  return { params: { ...params, connectionId }, querystring }
}
