import { randomUUIDv7 } from 'node:crypto'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import { keyCustodyOfMode, scopesOfRole } from '@countersign/protocol/formats/role'
import type {
  Organization,
  OrganizationChange,
  OwnOrganization,
} from '@countersign/protocol/organizations/organizations'
import { holdIdentity, isPictureAddress } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import type { PersonKey } from '#platform/rate-limits/rate-limit-key.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { removeOrganization } from './departure.ts'
import {
  actingMemberTransaction,
  findMembership,
  requireMember,
  toMember,
  type Asking,
  type Member,
} from '#organizations/membership/access.ts'
import * as keysStore from '#organizations/keys/store.ts'
import { hasKms } from '#organizations/keys/kms.ts'
import * as memberStore from './member-store.ts'
import { recordAct, requireFreshToAct } from '#organizations/membership/signed-action.ts'
import { moveSlug, takeSlug } from './slug.ts'
import * as store from './store.ts'

const refuse = refusals({
  invalid_request: [400, 'The name of an organization has 1 to 80 visible characters.'],
  insufficient_scope: [403, 'Only an owner deletes an organization.'],
  kms_missing: [409, 'Set the KMS of this organization first.'],
  sso_not_tested: [409, 'Test a connection of this organization first, and have an owner confirm it.'],
})

const logoAddressWrong = 'A logo has an address that begins with https, without a name or password.'

/** Who makes an organization: by their session, or through an app. */
export type Founder = { userId: string; identityId: string } & ({ session: Session } | { clientId: string })

/**
 * Makes an organization that this identity owns. Undefined where the identity has gone, or is in as many as it may.
 * Refuses `invalid_request`, `rate_limited`.
 */
export async function beginOrganization(
  { db, rateLimits }: Pick<Kernel, 'db' | 'rateLimits'>,
  founder: Founder,
  name: string,
  now: Date,
): Promise<Member | undefined> {
  if (!isDisplayName(name)) throw refuse.invalid_request()
  const { identityId, userId } = founder
  await rateLimits.count('new organization of a person', keyOfFounder(founder, now))
  const begin = (work: (tx: Transaction) => Promise<Member | undefined>) =>
    'session' in founder ? actingTransaction(db, founder.session, work) : transaction(db, work)
  return begin(async (tx) => {
    if (!(await mayJoinAnother(tx, identityId))) return undefined
    const organizationId = randomUUIDv7()
    const slug = await takeSlug(tx, name, { organizationId, userId }, now)
    await store.insertOrganization(tx, { organizationId, name, slug }, now)
    const rights = { role: 'owner' as const, scopes: [...scopesOfRole.owner], signingAuthority: true }
    const owner = { ...rights, namedByDirectory: false }
    await memberStore.insertMember(tx, { organizationId, memberId: randomUUIDv7(), identityId, ...owner }, now)
    const by =
      'session' in founder ? { actor: 'person' as const } : { actor: 'app' as const, clientId: founder.clientId }
    await record(tx, { action: 'organization.created', ...by, userId, identityId, organizationId }, now)
    return findMembership(tx, organizationId, identityId)
  })
}

/** An app counts as a session does: it leaves the person something, too. */
function keyOfFounder(founder: Founder, now: Date): PersonKey {
  if ('session' in founder) return ownKey(founder.session, now)
  return { owner: founder.userId, sessionId: founder.clientId, isProved: false }
}

/** Whether an identity is there, and in fewer organizations than it may be in; it stays so until `tx` ends. */
export async function mayJoinAnother(tx: Transaction, identityId: string): Promise<boolean> {
  if (!(await holdIdentity(tx, identityId))) return false
  return (await store.countMemberships(tx, identityId)) < limits.organizationsPerIdentityMax
}

/** The active organizations of an identity, the one that it joined first before the others. */
export async function listOrganizationsOfIdentity(db: Database, identityId: string): Promise<Organization[]> {
  return (await store.listMembershipsOfIdentity(db, identityId)).map((row) => toOrganization(toMember(row)))
}

/** The active organizations that a session is for, once for each identity of the person that is a member. */
export async function listOwnOrganizations(db: Database, session: Session): Promise<OwnOrganization[]> {
  return (await store.listMembershipsOfSession(db, session)).map((row) => toOwnOrganization(toMember(row)))
}

/** All that a person is a member of, also where that is suspended, for them to take along. */
export async function exportMemberships(db: Database, userId: string) {
  const rows = await store.listAllMemberships(db, userId)
  return rows.map((row) => ({ ...toOwnOrganization(toMember(row)), joinedAt: row.joinedAt.toISOString() }))
}

/**
 * Changes an organization. Refuses what `requireMember` and `recordAct` do, `invalid_request`, `slug_taken`,
 * `too_many_slugs`, `sso_not_tested`, `kms_missing`, `reauthentication_required`.
 */
export async function changeOrganization(
  { db, config }: Kernel,
  asking: Asking,
  change: OrganizationChange,
  now: Date,
): Promise<OwnOrganization> {
  const { name, slug, logoUrl, ssoRequired, requireSignedActions, encryptionMode } = change
  const { organizationId } = asking
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_org', now)
    const { identityId, organization } = acting
    if (name !== undefined && !isDisplayName(name)) throw refuse.invalid_request()
    if (logoUrl && !isPictureAddress(logoUrl)) throw refuse.invalid_request({ sentence: logoAddressWrong })
    const givesNothing = !changesGuards(organization, change)
    if (!givesNothing) requireFreshToAct(asking, now)
    if (ssoRequired && !organization.ssoConnectionId) throw refuse.sso_not_tested()
    if (encryptionMode !== undefined && encryptionMode !== organization.encryptionMode)
      await moveKeys(tx, { organizationId, encryptionMode }, now)
    const { userId } = asking.session
    if (slug !== undefined && slug !== organization.slug)
      await moveSlug(tx, { organizationId, userId, slug: organization.slug }, slug, now)
    await store.updateOrganization(tx, { ...change, organizationId }, now)
    const details = { changed: Object.keys(change).filter((field) => field !== 'signedAction') }
    // Whoever wants acts signed signs that, and so can.
    const isAlwaysSigned = requireSignedActions === true
    const act = { action: 'organization.changed', details, givesNothing, isAlwaysSigned } as const
    await recordAct(tx, { asking, acting }, act, now)
    // The transaction has the organization to itself, so the member is there as before.
    const changed = await findMembership(tx, organizationId, identityId)
    if (!changed) throw new Error(`the member ${identityId} of ${organizationId} is gone from a locked organization`)
    return toOwnOrganization(changed)
  })
}

/**
 * Whether somebody else could get in, or act in another's name, whom the organization keeps from it now; or pass for
 * the organization, as others know it by its name, slug and logo.
 */
function changesGuards(organization: Member['organization'], change: OrganizationChange): boolean {
  const guards = [
    ...(['name', 'slug', 'logoUrl', 'ssoRequired'] as const),
    ...(['requireSignedActions', 'approvalsNeeded', 'encryptionMode'] as const),
  ]
  return guards.some((guard) => change[guard] !== undefined && change[guard] !== organization[guard])
}

/** The next key is made in the new mode, and it is time for one: the key in force stays with whoever keeps it. */
async function moveKeys(
  tx: Transaction,
  { organizationId, encryptionMode }: Pick<Member['organization'], 'organizationId' | 'encryptionMode'>,
  now: Date,
): Promise<void> {
  if (encryptionMode === 'enterprise_managed' && !(await hasKms(tx, organizationId))) throw refuse.kms_missing()
  await keysStore.markKeyInForce(tx, { organizationId }, now)
}

/**
 * Deletes an organization with all that it has, at once. Refuses what `requireMember` and `recordAct` do,
 * `insufficient_scope` where somebody is no owner, `reauthentication_required`.
 */
export async function endOrganization({ db, config }: Kernel, asking: Asking, now: Date): Promise<void> {
  const { organizationId } = asking
  await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_org', now)
    if (acting.role !== 'owner') throw refuse.insufficient_scope()
    requireFreshToAct(asking, now)
    const { createdAt } = acting.organization
    const { userId } = asking.session
    await removeOrganization(tx, { organizationId, createdAt, userId, identityIds: [acting.identityId] }, now)
    await recordAct(tx, { asking, acting }, { action: 'organization.deleted' }, now)
  })
}

/** An organization as apps see it. */
export function toOrganization({ organization, role, scopes, signingAuthority }: Member): Organization {
  const { organizationId: id, name, slug, logoUrl, ssoRequired, encryptionMode } = organization
  const keyCustody = keyCustodyOfMode[encryptionMode]
  return { id, name, slug, logoUrl, role, scopes, signingAuthority, ssoRequired, encryptionMode, keyCustody }
}

/** An organization as its members see it. */
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
