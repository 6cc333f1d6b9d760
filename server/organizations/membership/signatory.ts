import type { Database, Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { toMember, type Member } from './access.ts'
import * as signatoryStore from './signatory-store.ts'
import { readConfirmedSso } from './sso-confirmation.ts'
import * as membersStore from '#organizations/members/store.ts'

const refuse = refusals({
  enterprise_sso_required: [403, 'This organization asks its members to sign in with its own provider first.'],
  insufficient_scope: [403, 'You neither sign nor approve for this organization.'],
})

/** A member who signs for their organization, approves what is signed, or both. */
export type Signatory = Pick<Member, 'organization' | 'memberId' | 'identityId'> & {
  maySign: boolean
  mayApprove: boolean
}

function toSignatory(member: Member): Signatory {
  const { organization, memberId, identityId, scopes, signingAuthority } = member
  const maySign = scopes.includes('sign') && signingAuthority
  return { organization, memberId, identityId, maySign, mayApprove: scopes.includes('approve') }
}

function mayAnswer({ maySign, mayApprove }: Signatory): boolean {
  return maySign || mayApprove
}

/**
 * As whom the person of a session signs or approves for an organization, the one that joined first before others; none
 * where they are no member, or it is suspended. Where it requires its own sign-in they have come through that: here no
 * owner gets in without. Refuses `insufficient_scope`, and `enterprise_sso_required`, which says where that is.
 */
export async function requireSignatories(
  { db, config }: Pick<Kernel, 'db' | 'config'>,
  session: Session,
  organizationId: string,
  now: Date,
): Promise<Signatory[]> {
  const members = (await membersStore.listMembershipsOfSession(db, session, { organizationId })).map(toMember)
  if (members.length === 0) return []
  const signatories = members.map(toSignatory).filter(mayAnswer)
  const [first] = signatories
  if (!first) throw refuse.insufficient_scope()
  if (!first.organization.ssoRequired) return signatories
  const named = await readConfirmedSso(db, session.sessionId, organizationId, now)
  const through = signatories.filter(({ identityId }) => identityId === named?.identityId)
  if (through.length > 0) return through
  const loginUrl = `${config.baseUrl.origin}/api/sso/${first.organization.ssoConnectionId}/start`
  throw refuse.enterprise_sso_required({ fields: { loginUrl, organizationName: first.organization.name } })
}

/** The same for all organizations that the session is for, without those that require a sign-in that there was not. */
export async function listSignatories(db: Database, session: Session, now: Date): Promise<Signatory[]> {
  const members = (await membersStore.listMembershipsOfSession(db, session)).map(toMember)
  const listed: Signatory[] = []
  for (const signatory of members.map(toSignatory).filter(mayAnswer)) {
    const { organizationId, ssoRequired } = signatory.organization
    const named = ssoRequired ? await readConfirmedSso(db, session.sessionId, organizationId, now) : undefined
    if (!ssoRequired || named?.identityId === signatory.identityId) listed.push(signatory)
  }
  return listed
}

/** Holds an organization and what its members may do as they are until the transaction ends, beside others. */
export async function keepOrganization(tx: Transaction, organizationId: string): Promise<void> {
  await membersStore.shareOrganization(tx, organizationId)
}

/**
 * Whether an organization has the members to sign something: somebody with a signing key who may sign, and beside them
 * as many people who may approve as it takes. A person counts once, however many of their identities are members.
 */
export async function canSign(db: Database, organizationId: string, approvalsNeeded: number): Promise<boolean> {
  const rows = await signatoryStore.listSignatoryRows(db, organizationId)
  const signers = new Set(rows.flatMap(({ userId, maySign }) => (maySign ? userId : [])))
  const approvers = new Set(rows.flatMap(({ userId, mayApprove }) => (mayApprove ? userId : [])))
  const takenBySigner = signers.isSubsetOf(approvers) ? 1 : 0
  return signers.size > 0 && approvers.size - takenBySigner >= approvalsNeeded
}
