import {
  listMembershipsOfSession,
  listMembershipsOfIdentity,
  listAllMemberships,
  findMembership,
  findOrganization,
  lockOrganization,
  type Member,
} from '#organizations/membership/member.ts'
import { randomUUIDv7 } from 'node:crypto'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import { keyCustodyOfMode, scopesOfRole } from '@countersign/protocol/formats/role'
import { type ClientId, type IdentityId, type OrganizationId, type UserId, asId } from '@countersign/protocol/ids'
import type {
  Organization,
  OrganizationChange,
  OwnOrganization,
} from '@countersign/protocol/organizations/organizations'
import type { CouncilDecision } from '@countersign/protocol/signing/acts/council'
import { lockActiveIdentity } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { PersonKey } from '#platform/rate-limits/rate-limit-key.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import type { PasskeySession, Session } from '#accounts/sessions/session.ts'
import { purgeOrganization } from './removal.ts'
import { actingMemberTransaction, requireMember, type MemberContext } from '#organizations/membership/access.ts'
import {
  type Candidate,
  endCouncil,
  foundCouncil,
  listFounders,
  requireDecidable,
} from '#organizations/membership/council/council.ts'
import { requestKeyRotation } from '#organizations/keys/key-rotation.ts'
import { hasKms } from '#organizations/keys/kms.ts'
import * as memberStore from './member-store.ts'
import { recordSignedAction, requireRecentAuthenticationForAction } from '#organizations/acts/signed-action.ts'
import { moveLogo } from './logo/logo.ts'
import { moveSlug, claimSlug } from './slug.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'name must be 1 to 80 visible characters.'],
  insufficient_scope: [403, 'Only owners can delete an organization.'],
  sso_connection_required: [409, 'SSO with this connection is required. Set ssoRequired to false first.'],
  kms_required: [409, 'Configure a KMS before setting encryptionMode to enterprise_managed.'],
  sso_connection_untested: [
    409,
    'Complete a test sign-in before setting ssoRequired, and have an owner confirm the connection.',
  ],
})

/** Creator of an organization: a user with a session, or an app on behalf of a user. */
export type OrganizationCreator = { userId: UserId; identityId: IdentityId } & (
  | { session: PasskeySession }
  | { clientId: ClientId }
)

/**
 * Creates an organization that this identity owns. Returns undefined if the identity no longer exists or has reached
 * its maximum number of organizations. Throws `invalid_request`, `rate_limited`.
 */
export async function createOrganization(
  { db, rateLimits }: Pick<ServerContext, 'db' | 'rateLimits'>,
  founder: OrganizationCreator,
  name: string,
  now: Date,
): Promise<Member | undefined> {
  if (!isDisplayName(name)) throw errors.invalid_request()
  const { identityId, userId } = founder
  await rateLimits.count('organizations-created-per-user', keyOfFounder(founder, now))
  const begin = (work: (tx: Transaction) => Promise<Member | undefined>) =>
    'session' in founder ? actingTransaction(db, founder.session, work) : transaction(db, work)
  return begin(async (tx) => {
    if (!(await canJoinAnotherOrganization(tx, identityId, now))) return undefined
    const organizationId = asId<OrganizationId>(randomUUIDv7())
    const slug = await claimSlug(tx, name, { organizationId, userId }, now)
    await store.insertOrganization(tx, { organizationId, name, slug }, now)
    const rights = { role: 'owner' as const, scopes: [...scopesOfRole.owner], signingAuthority: true }
    const owner = { ...rights, namedByDirectory: false }
    await memberStore.insertMember(tx, { organizationId, memberId: randomUUIDv7(), identityId, ...owner }, now)
    const by = 'session' in founder ? { actor: 'user' as const } : { actor: 'app' as const, clientId: founder.clientId }
    await recordAuditEvent(tx, { action: 'organization.created', ...by, userId, identityId, organizationId }, now)
    return findMembership(tx, organizationId, identityId)
  })
}

/** Apps use the same limit as sessions, so that an app cannot use up the whole limit of the user. */
function keyOfFounder(founder: OrganizationCreator, now: Date): PersonKey {
  if ('session' in founder) return ownKey(founder.session, now)
  return { owner: founder.userId, sessionId: founder.clientId, isProved: false }
}

/** Checks if an identity exists and can join another organization. The identity stays locked until `tx` ends. */
export async function canJoinAnotherOrganization(tx: Transaction, identityId: IdentityId, now: Date): Promise<boolean> {
  if (!(await lockActiveIdentity(tx, identityId, now))) return false
  return (await store.countMemberships(tx, identityId)) < limits.organizationsPerIdentityMax
}

/** Lists the active organizations of an identity, in the order in which it joined them. */
export async function listOrganizationsOfIdentity(db: Database, identityId: IdentityId): Promise<Organization[]> {
  return (await listMembershipsOfIdentity(db, identityId)).map(toOrganization)
}

/** Lists the active organizations that a session can use, once for each of the user's identities that is a member. */
export async function listOwnOrganizations(db: Database, session: Session, now: Date): Promise<OwnOrganization[]> {
  return (await listMembershipsOfSession(db, session, { usableAt: now })).map(toOwnOrganization)
}

/** Lists all memberships of a user for the data export, including suspended organizations. */
export async function exportMemberships(db: Database, userId: UserId) {
  const members = await listAllMemberships(db, userId)
  const identityIds = members.map(({ identityId }) => identityId)
  const invited = identityIds.length === 0 ? [] : await memberStore.listInvitedEmails(db, identityIds)
  const emails = new Map(invited.map(({ memberId, invitedEmail }) => [memberId, invitedEmail]))
  return members.map((member) => ({
    ...toOwnOrganization(member),
    joinedAt: member.joinedAt.toISOString(),
    invitedEmail: emails.get(member.memberId) ?? null,
  }))
}

/** Fields that a member can change. */
const fields = [
  ...(['name', 'slug', 'logoUrl', 'ssoRequired'] as const),
  ...(['requireSignedActions', 'approvalsNeeded', 'encryptionMode'] as const),
]

/**
 * Updates an organization. Throws the errors of `requireMember` and `recordSignedAction`, `invalid_request`,
 * `slug_taken`, `too_many_slugs`, `sso_connection_untested`, `kms_required`, `reauthentication_required`.
 */
export async function updateOrganization(
  { db, config }: ServerContext,
  asking: MemberContext,
  { logoSha256, ...change }: OrganizationChange,
  now: Date,
): Promise<OwnOrganization> {
  const { name, slug, logoUrl, ssoRequired, requireSignedActions, encryptionMode } = change
  const { organizationId } = asking
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_org', now)
    const { identityId, organization } = acting
    if (name !== undefined && !isDisplayName(name)) throw errors.invalid_request()
    const givesNothing = !changesGuards(organization, change)
    if (!givesNothing) requireRecentAuthenticationForAction(asking, now)
    const { approvals, founders } = await decideChange(tx, acting, change, now)
    if (ssoRequired && !organization.ssoConnectionId) throw errors.sso_connection_untested()
    if (encryptionMode !== undefined && encryptionMode !== organization.encryptionMode)
      await moveKeys(tx, { organizationId, encryptionMode }, now)
    const { userId } = asking.session
    if (slug !== undefined && slug !== organization.slug)
      await moveSlug(tx, { organizationId, userId, slug: organization.slug }, slug, now)
    await moveLogo({ tx, baseUrl: config.baseUrl }, organization, { logoUrl, logoSha256 }, now)
    await store.updateOrganization(tx, organizationId, change, now)
    if (founders) await foundCouncil(tx, organizationId, founders, now)
    if (organization.approvalsNeeded > 0 && change.approvalsNeeded === 0) await endCouncil(tx, organizationId)
    const changed = fields.filter((field) => change[field] !== undefined)
    const from = {
      ...Object.fromEntries(changed.map((field) => [field, organization[field]])),
      // The people that those who accept the council have seen.
      ...(founders && { signatories: founders.map(({ userId: _hidden, ...founder }) => founder) }),
    }
    // A member who turns on required signatures signs this change too, which proves that they can.
    const isAlwaysSigned = requireSignedActions === true
    // A verifier of the trail takes these fields for changes that no council has approved, if they are not signed.
    const isDecision = (field: string) => field === 'approvalsNeeded' || field === 'requireSignedActions'
    const isChanged = (field: (typeof changed)[number]) => !isDecision(field) || change[field] !== organization[field]
    const details = { changed: changed.filter(isChanged) }
    const act = { action: 'organization.updated', details, from, givesNothing, isAlwaysSigned, approvals } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
    // The transaction has locked the organization, so the membership is unchanged.
    const member = await findMembership(tx, organizationId, identityId)
    if (!member) throw new Error(`the member ${identityId} of ${organizationId} is missing from a locked organization`)
    return toOwnOrganization(member)
  })
}

/**
 * Returns the approvals that a change needs: of those who would found a council, or of the council. Throws the errors
 * of `requireDecidable`, `too_many_signatories`.
 */
async function decideChange(tx: Transaction, acting: Member, change: OrganizationChange, now: Date) {
  const { organizationId, approvalsNeeded: before, requireSignedActions } = acting.organization
  const { approvalsNeeded = before } = change
  const decisions: CouncilDecision[] = []
  const isFounding = before === 0 && approvalsNeeded > 0
  const founders = isFounding ? await listFounders(tx, organizationId, acting.identityId) : undefined
  if (founders) decisions.push({ kind: 'found', approvalsNeeded, people: founders.map(toFounder) })
  if (before > 0 && requireSignedActions && change.requireSignedActions === false) decisions.push({ kind: 'widen' })
  if (before > 0 && approvalsNeeded !== before) decisions.push({ kind: 'change_approvals_needed', approvalsNeeded })
  return { approvals: await requireDecidable(tx, acting, decisions, now), founders }
}

function toFounder({ identityId, maySign, mayApprove }: Candidate) {
  return { signatoryId: identityId, maySign, mayApprove }
}

/**
 * Checks if a change weakens the protection of an organization: it could let others get in, act in another member's
 * name, or impersonate the organization by its name, slug or logo.
 */
function changesGuards(organization: Member['organization'], change: OrganizationChange): boolean {
  return fields.some((guard) => change[guard] !== undefined && change[guard] !== organization[guard])
}

/**
 * The next key is generated in the new mode, and the current key becomes due for rotation. It stays where it is stored.
 */
async function moveKeys(
  tx: Transaction,
  { organizationId, encryptionMode }: Pick<Member['organization'], 'organizationId' | 'encryptionMode'>,
  now: Date,
): Promise<void> {
  if (encryptionMode === 'enterprise_managed' && !(await hasKms(tx, organizationId))) throw errors.kms_required()
  await requestKeyRotation(tx, { organizationId }, now)
}

/**
 * Deletes an organization with all its data at once. Throws the errors of `requireMember` and `recordSignedAction`,
 * `insufficient_scope` unless the member is an owner, `reauthentication_required`.
 */
export async function deleteOrganization(
  { db, config }: ServerContext,
  asking: MemberContext,
  now: Date,
): Promise<void> {
  const { organizationId } = asking
  await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_org', now)
    if (acting.role !== 'owner') throw errors.insufficient_scope()
    requireRecentAuthenticationForAction(asking, now)
    const { createdAt, name, slug, approvalsNeeded } = acting.organization
    const { userId } = asking.session
    const approvals = await requireDecidable(tx, acting, approvalsNeeded > 0 ? [{ kind: 'widen' }] : [], now)
    const act = { action: 'organization.deleted', from: { name, slug }, approvals } as const
    // Before the deletion, which also deletes the started act.
    await recordSignedAction(tx, { asking, acting }, act, now)
    await purgeOrganization(tx, { organizationId, createdAt, userId, identityIds: [acting.identityId] }, now)
  })
}

/** Maps an organization to the view for apps. */
export function toOrganization({ organization, role, scopes, signingAuthority }: Member): Organization {
  const { organizationId: id, name, slug, logoUrl, ssoRequired, encryptionMode } = organization
  const keyCustody = keyCustodyOfMode[encryptionMode]
  return { id, name, slug, logoUrl, role, scopes, signingAuthority, ssoRequired, encryptionMode, keyCustody }
}

/** Maps an organization to the view for its members. */
export function toOwnOrganization(member: Member): OwnOrganization {
  const { memberId, identityId, organization } = member
  return {
    ...toOrganization(member),
    memberId,
    identityId,
    requireSignedActions: organization.requireSignedActions,
    approvalsNeeded: organization.approvalsNeeded,
    createdAt: organization.createdAt.toISOString(),
    updatedAt: organization.updatedAt.toISOString(),
  }
}

/** Finds an active organization for SSO. Returns undefined if there is none. */
export async function findActiveOrganization(db: Database, organizationId: OrganizationId) {
  const organization = await findOrganization(db, organizationId)
  return organization?.status === 'active' ? organization : undefined
}

/** Finds an active organization and locks it and its members until the transaction ends. */
export async function lockActiveOrganization(tx: Transaction, organizationId: OrganizationId) {
  const organization = await lockOrganization(tx, organizationId)
  return organization?.status === 'active' ? organization : undefined
}

/**
 * Sets the connection that members must sign in with. Throws `sso_connection_required` if SSO is required and no
 * connection is given.
 */
export async function setActiveSsoConnection(
  tx: Transaction,
  organizationId: OrganizationId,
  connectionId: string | null,
) {
  if (!(await store.updateSsoConnection(tx, organizationId, connectionId))) throw errors.sso_connection_required()
}

/** Returns the ID that the next SSO connection will have. No connection has had it before. */
export function findNextSsoConnectionId(db: Database, organizationId: OrganizationId): Promise<string> {
  return store.readNextSsoConnectionId(db, organizationId)
}

/** Takes the ID for a new SSO connection: each is used once. The caller has locked the organization. */
export async function takeNextSsoConnectionId(tx: Transaction, organizationId: OrganizationId): Promise<string> {
  const connectionId = await store.readNextSsoConnectionId(tx, organizationId)
  await store.updateNextSsoConnectionId(tx, organizationId, randomUUIDv7())
  return connectionId
}

/** Sets that the organization needs no approvals, because its council has ended. The caller has locked it. */
export async function endApprovals(tx: Transaction, organizationId: OrganizationId, now: Date): Promise<void> {
  await store.updateOrganization(tx, organizationId, { approvalsNeeded: 0 }, now)
}
