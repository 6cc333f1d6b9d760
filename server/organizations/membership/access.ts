import type { OrganizationScope } from '@countersign/protocol/formats/role'
import { record } from '#platform/audit/audit.ts'
import { withinTransaction, type Database, type Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { noteWithoutSso } from '#accounts/sessions/sso-session.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { askedIn, type Asked } from './signed-action.ts'
import { readConfirmedSso } from './sso-confirmation.ts'
import * as membersStore from '#organizations/members/store.ts'
import type { Membership } from '#organizations/members/store.ts'

const refuse = refusals({
  enterprise_sso_required: [403, 'This organization requires its own sign-in.'],
  insufficient_scope: [403, 'You may not do this in this organization.'],
  organization_not_found: [404, 'You are a member of no organization with this id.'],
})

/** What an identity is in an active organization. */
export type Member = ReturnType<typeof toMember>

/** Who asks for what in which organization; with `identityId` as that one of their identities. */
export type Asking = { session: Session; organizationId: string; identityId?: string | undefined; asked: Asked }

/** Who asks for what, of a request for an organization. */
export function askingOf(request: Sent, session: Session): Asking {
  const { organizationId } = request.params
  return { session, organizationId, identityId: request.query.identity_id, asked: askedIn(request) }
}

type Sent = Parameters<typeof askedIn>[0] & { params: { organizationId: string }; query: { identity_id?: string } }

/**
 * As what a person acts in an organization: as the identity of theirs that joined first of those with this scope, and
 * where its own sign-in is required as one of those that gets in; with `undefined` for it being a member is enough. In
 * a transaction `db` is that. Refuses `organization_not_found` alike where there is none, it is suspended, or they are
 * no member; `insufficient_scope`, `enterprise_sso_required`.
 */
export async function requireMember(
  { db, config }: Pick<Kernel, 'db' | 'config'>,
  { session, organizationId, identityId }: Asking,
  scope: OrganizationScope | undefined,
  now: Date,
): Promise<Member> {
  const memberships = await membersStore.listMembershipsOfSession(db, session, { organizationId, identityId })
  if (memberships.length === 0) throw refuse.organization_not_found()
  const able = memberships.filter(({ scopes }) => scope === undefined || scopes.includes(scope)).map(toMember)
  const [first, ...others] = able
  if (!first) throw refuse.insufficient_scope()
  return first.organization.ssoRequired ? requireSso({ db, config }, session, [first, ...others], now) : first
}

/**
 * Runs what a member changes in an organization by a session, while nobody else changes it or its members. Who is no
 * member is refused before it is locked: strangers keep nobody waiting. Refuses as `actingTransaction` does, and
 * `organization_not_found`.
 */
export async function actingMemberTransaction<Result>(
  db: Database,
  { session, organizationId }: Pick<Asking, 'session' | 'organizationId'>,
  work: (tx: Transaction, locked: Awaited<ReturnType<typeof membersStore.lockOrganization>>) => Promise<Result>,
): Promise<Result> {
  const memberships = await membersStore.listMembershipsOfSession(db, session, { organizationId })
  if (memberships.length === 0) throw refuse.organization_not_found()
  return actingTransaction(db, session, async (tx) => work(tx, await membersStore.lockOrganization(tx, organizationId)))
}

/** As which member the person of a session is meant by an id; undefined where it is another's, or nobody's. */
export async function findOwnMembership(
  db: Database,
  session: Session,
  { organizationId, memberId }: { organizationId: string; memberId: string },
): Promise<Member | undefined> {
  const memberships = await membersStore.listMembershipsOfSession(db, session, { organizationId })
  const found = memberships.find((membership) => membership.memberId === memberId)
  return found && toMember(found)
}

/** What an identity is in an organization; undefined where that is nothing, or the organization is suspended. */
export async function findMembership(
  db: Database,
  organizationId: string,
  identityId: string,
): Promise<Member | undefined> {
  const found = await membersStore.findMembershipOfIdentity(db, organizationId, identityId)
  return found && toMember(found)
}

/**
 * As which of these a person gets into an organization that requires its own sign-in: as whom that has named, by a
 * connection that an owner has confirmed. Where it
 * is broken somebody must be able to mend it: its owners get in without, by a passkey, and its trail tells of it, once
 * an hour of each session. Refuses `enterprise_sso_required` to all others.
 */
async function requireSso(
  { db, config }: Pick<Kernel, 'db' | 'config'>,
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
  if (!owner) throw refuse.enterprise_sso_required({ fields: { loginUrl } })
  const { identityId } = owner
  const act = { action: 'organization.entered_without_sso', actor: 'person' } as const
  await withinTransaction(db, async (tx) => {
    const isToBeTold = await noteWithoutSso(tx, { sessionId, organizationId }, now)
    if (isToBeTold) await record(tx, { ...act, userId, identityId, organizationId }, now)
  })
  return owner
}

export function toMember(row: Membership) {
  const { memberId, identityId, role, scopes, signingAuthority, namedByDirectory, joinedAt, ...organization } = row
  return { organization, memberId, identityId, role, scopes, signingAuthority, namedByDirectory, joinedAt }
}
