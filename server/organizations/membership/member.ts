import type { OrganizationRole, OrganizationScope } from '@countersign/protocol/formats/role'
import type { IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import type { Session } from '#accounts/sessions/session.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import * as store from './store.ts'
import type { Organization } from './store.ts'

export type { Organization } from './store.ts'

/** Membership of an identity in an organization. */
export type Member = {
  organization: Organization
  memberId: string
  identityId: IdentityId
  role: OrganizationRole
  scopes: OrganizationScope[]
  signingAuthority: boolean
  namedByDirectory: boolean
  joinedAt: Date
  /** What the council of the organization has admitted; undefined for members who are not in it, or suspended. */
  admitted: { maySign: boolean; mayApprove: boolean } | undefined
}

function toMember({ isAdmittedToSign, isAdmittedToApprove, ...row }: store.Membership): Member {
  const { memberId, identityId, role, scopes, signingAuthority, namedByDirectory, joinedAt, ...organization } = row
  const admitted =
    isAdmittedToSign === null || isAdmittedToApprove === null
      ? undefined
      : { maySign: isAdmittedToSign, mayApprove: isAdmittedToApprove }
  return { organization, memberId, identityId, role, scopes, signingAuthority, namedByDirectory, joinedAt, admitted }
}

/**
 * Lists the memberships in active organizations that a session can use, the one that joined first at the front: in any
 * organization or in one, with any identity of the user or with one. With `usableAt`, no suspended identity.
 */
export async function listMembershipsOfSession(
  db: Database,
  session: Session,
  requested: { organizationId?: OrganizationId; identityId?: IdentityId | undefined; usableAt?: Date } = {},
): Promise<Member[]> {
  return (await store.listMembershipsOfSession(db, session, requested)).map(toMember)
}

/** Lists the memberships of an identity in active organizations, in the order in which it joined them. */
export async function listMembershipsOfIdentity(db: Database, identityId: IdentityId): Promise<Member[]> {
  return (await store.listMembershipsOfIdentity(db, identityId)).map(toMember)
}

/** Lists all memberships of a user, also in suspended organizations. */
export async function listAllMemberships(db: Database, userId: UserId): Promise<Member[]> {
  return (await store.listAllMemberships(db, userId)).map(toMember)
}

/** Finds the membership of an identity. Returns undefined if there is none or the organization is suspended. */
export async function findMembership(
  db: Database,
  organizationId: OrganizationId,
  identityId: IdentityId,
): Promise<Member | undefined> {
  const found = await store.findMembershipOfIdentity(db, organizationId, identityId)
  return found && toMember(found)
}

export function findOrganization(db: Database, organizationId: OrganizationId): Promise<Organization | undefined> {
  return store.findOrganization(db, organizationId)
}

/** Locks an organization for update until the transaction ends. Nothing else can change it or its members. */
export function lockOrganization(tx: Transaction, organizationId: OrganizationId): Promise<Organization | undefined> {
  return store.lockOrganization(tx, organizationId)
}

/**
 * Locks an organization and the permissions of its members for share until the transaction ends. Returns false if it
 * does not exist.
 */
export function keepOrganization(tx: Transaction, organizationId: OrganizationId): Promise<boolean> {
  return store.lockOrganizationShared(tx, organizationId)
}
