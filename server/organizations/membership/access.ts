import type { OrganizationScope } from '@countersign/protocol/formats/role'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { ensureTransaction, type Database, type Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { recordSsoBypass } from '#accounts/sessions/sso-session.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { parseSignedAction, type SignedActionInput } from './requested-action.ts'
import { readConfirmedSso } from './sso-confirmation.ts'
import { listMembershipsOfSession, lockOrganization, type Member, type Organization } from './member.ts'

const errors = defineErrors({
  enterprise_sso_required: [403, 'The organization requires SSO.'],
  insufficient_scope: [403, 'Your role in this organization does not allow this.'],
  organization_not_found: [404, 'Organization not found, or you are not a member.'],
})

/** Session, organization and, optionally, the identity as which the user wants to act. */
export type MemberContext = {
  session: Session
  organizationId: OrganizationId
  identityId?: IdentityId | undefined
  requested: SignedActionInput
}

/** Context of a request of a member for an organization. */
export function memberContextOf(request: MemberRequest, session: Session): MemberContext {
  const { organizationId } = request.params
  return { session, organizationId, identityId: request.query.identity_id, requested: parseSignedAction(request) }
}

type MemberRequest = Parameters<typeof parseSignedAction>[0] & {
  params: { organizationId: OrganizationId }
  query: { identity_id?: IdentityId }
}

/**
 * Returns the membership with which a user acts in an organization: that of the identity with the required scope that
 * joined first, or if SSO is required, of one that has met the requirement. Without a scope every member qualifies.
 * Within a transaction, `db` is the transaction. Throws `organization_not_found` if the organization does not exist or
 * is suspended, or the user is not a member; `insufficient_scope`, `enterprise_sso_required`.
 */
export async function requireMember(
  { db, config }: Pick<ServerContext, 'db' | 'config'>,
  { session, organizationId, identityId }: Pick<MemberContext, 'session' | 'organizationId' | 'identityId'>,
  scope: OrganizationScope | undefined,
  now: Date,
): Promise<Member> {
  const memberships = await listMembershipsOfSession(db, session, { organizationId, identityId, usableAt: now })
  if (memberships.length === 0) throw errors.organization_not_found()
  const able = memberships.filter(({ scopes }) => scope === undefined || scopes.includes(scope))
  const [first, ...others] = able
  if (!first) throw errors.insufficient_scope()
  return first.organization.ssoRequired ? requireSso({ db, config }, session, [first, ...others], now) : first
}

/**
 * Runs a change by a member in a transaction that locks the organization. Membership is checked before the lock, so
 * that users who are not members cannot block the organization. Throws the errors of `actingTransaction`, and
 * `organization_not_found`.
 */
export async function actingMemberTransaction<Result>(
  db: Database,
  { session, organizationId }: Pick<MemberContext, 'session' | 'organizationId'>,
  work: (tx: Transaction, locked: Organization | undefined) => Promise<Result>,
): Promise<Result> {
  const memberships = await listMembershipsOfSession(db, session, { organizationId })
  if (memberships.length === 0) throw errors.organization_not_found()
  return actingTransaction(db, session, async (tx) => work(tx, await lockOrganization(tx, organizationId)))
}

/** Finds the member with this id among the identities of the session's user. */
export async function findOwnMembership(
  db: Database,
  session: Session,
  { organizationId, memberId }: { organizationId: OrganizationId; memberId: string },
): Promise<Member | undefined> {
  const memberships = await listMembershipsOfSession(db, session, { organizationId })
  return memberships.find((membership) => membership.memberId === memberId)
}

/**
 * Selects the identities with which a user can enter an organization that requires SSO. These are the identities that a
 * confirmed connection has named. Owners can also enter with a passkey, so that they can repair a broken connection.
 * The audit log records that once an hour for each session. Throws `enterprise_sso_required` for all other users.
 */
async function requireSso(
  { db, config }: Pick<ServerContext, 'db' | 'config'>,
  { sessionId, userId }: Session,
  able: [Member, ...Member[]],
  now: Date,
): Promise<Member> {
  const { organizationId, ssoConnectionId } = able[0].organization
  const named = await readConfirmedSso(db, sessionId, organizationId, now)
  const through = able.find(({ identityId }) => identityId === named?.identityId)
  if (through) return through
  const loginUrl = `${config.baseUrl.origin}/api/sso/${ssoConnectionId}/start`
  const owner = able.find(({ role }) => role === 'owner')
  if (!owner) throw errors.enterprise_sso_required({ fields: { loginUrl } })
  const { identityId } = owner
  const act = { action: 'organization.sso_bypassed', actor: 'user' } as const
  await ensureTransaction(db, async (tx) => {
    const isNew = await recordSsoBypass(tx, { sessionId, organizationId }, now)
    if (isNew) await recordAuditEvent(tx, { ...act, userId, identityId, organizationId }, now)
  })
  return owner
}
