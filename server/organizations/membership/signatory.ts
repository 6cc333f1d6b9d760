import type { OrganizationId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { listMembershipsOfSession, type Member } from './member.ts'
import * as signatoryStore from './signatory-store.ts'
import { readConfirmedSso } from './sso-confirmation.ts'

const errors = defineErrors({
  enterprise_sso_required: [403, 'The organization requires SSO. Send the user to loginUrl.'],
  insufficient_scope: [403, 'You can neither sign nor approve for this organization.'],
})

/** A member who signs for their organization, approves signatures, or both. */
export type OrganizationSigner = Pick<Member, 'organization' | 'memberId' | 'identityId'> & {
  maySign: boolean
  mayApprove: boolean
}

/**
 * Returns what a member may do by their permissions. With a council, permissions do not suffice: the council has
 * admitted the member for it.
 */
function toSignatory(member: Member): OrganizationSigner {
  const { organization, memberId, identityId, scopes, signingAuthority, admitted } = member
  const may = { maySign: scopes.includes('sign') && signingAuthority, mayApprove: scopes.includes('approve') }
  if (organization.approvalsNeeded === 0) return { organization, memberId, identityId, ...may }
  const { maySign = false, mayApprove = false } = admitted ?? {}
  const both = { maySign: may.maySign && maySign, mayApprove: may.mayApprove && mayApprove }
  return { organization, memberId, identityId, ...both }
}

function mayAnswer({ maySign, mayApprove }: OrganizationSigner): boolean {
  return maySign || mayApprove
}

/**
 * Returns the memberships with which the session's user signs or approves for an organization, in the order in which
 * they joined. The list is empty if the user is not a member or the organization is suspended. If SSO is required, the
 * session must have used it; owners have no exception here. Throws `insufficient_scope`, and `enterprise_sso_required`
 * with the SSO URL.
 */
export async function requireSigners(
  { db, config }: Pick<ServerContext, 'db' | 'config'>,
  session: Session,
  organizationId: OrganizationId,
  now: Date,
): Promise<OrganizationSigner[]> {
  const members = await listMembershipsOfSession(db, session, { organizationId, usableAt: now })
  if (members.length === 0) return []
  const signatories = members.map(toSignatory).filter(mayAnswer)
  const [first] = signatories
  if (!first) throw errors.insufficient_scope()
  if (!first.organization.ssoRequired) return signatories
  const named = await readConfirmedSso(db, session.sessionId, organizationId, now)
  const through = signatories.filter(({ identityId }) => identityId === named?.identityId)
  if (through.length > 0) return through
  const loginUrl = `${config.baseUrl.origin}/api/sso/${first.organization.ssoConnectionId}/start`
  throw errors.enterprise_sso_required({ fields: { loginUrl, organizationName: first.organization.name } })
}

/** Lists the signatories of all organizations of the session, except those whose SSO requirement is not met. */
export async function listSignatories(db: Database, session: Session, now: Date): Promise<OrganizationSigner[]> {
  const members = await listMembershipsOfSession(db, session, { usableAt: now })
  const listed: OrganizationSigner[] = []
  for (const signatory of members.map(toSignatory).filter(mayAnswer)) {
    const { organizationId, ssoRequired } = signatory.organization
    const named = ssoRequired ? await readConfirmedSso(db, session.sessionId, organizationId, now) : undefined
    if (!ssoRequired || named?.identityId === signatory.identityId) listed.push(signatory)
  }
  return listed
}

/**
 * Checks if an organization has enough members to sign: one with a signing key and signing authority, and the required
 * number of approvers. Each user counts once, even with several identities.
 */
export async function canSign(db: Database, organizationId: OrganizationId, approvalsNeeded: number): Promise<boolean> {
  const rows = await signatoryStore.listSignatoryRows(db, organizationId)
  const signers = new Set(rows.flatMap(({ userId, maySign }) => (maySign ? userId : [])))
  const approvers = new Set(rows.flatMap(({ userId, mayApprove }) => (mayApprove ? userId : [])))
  const takenBySigner = signers.isSubsetOf(approvers) ? 1 : 0
  return signers.size > 0 && approvers.size - takenBySigner >= approvalsNeeded
}

/** Counts the users with a signing key who may sign for an organization, and those who may approve. */
export async function countSignatories(
  db: Database,
  organizationId: OrganizationId,
): Promise<{ signers: number; approvers: number }> {
  const rows = await signatoryStore.listSignatoryRows(db, organizationId)
  const signers = new Set(rows.flatMap(({ userId, maySign }) => (maySign ? userId : [])))
  const approvers = new Set(rows.flatMap(({ userId, mayApprove }) => (mayApprove ? userId : [])))
  return { signers: signers.size, approvers: approvers.size }
}
