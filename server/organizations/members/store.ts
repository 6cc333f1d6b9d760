import type { OrganizationScope } from '@countersign/protocol/formats/role'
import { sql, type RawBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Session } from '#accounts/sessions/session.ts'
import * as domainsStore from '#organizations/domains/store.ts'

/** What an identity chose about its organizations when it connected an app; null where it was not asked. */
export async function findOrganizationAccess(db: Database, identityId: string, clientId: string) {
  const consent = await db
    .selectFrom('authorization_consent')
    .select('organization_access as organizationAccess')
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .executeTakeFirst()
  return consent?.organizationAccess ?? null
}

const organization = [
  'organization.organization_id as organizationId',
  'name',
  'slug',
  'logo_url as logoUrl',
  'status',
  'encryption_mode as encryptionMode',
  'sso_connection_id as ssoConnectionId',
  'sso_required as ssoRequired',
  'require_signed_actions as requireSignedActions',
  'approvals_needed as approvalsNeeded',
  'organization.created_at as createdAt',
  'organization.updated_at as updatedAt',
] as const

const member = [
  'member_id as memberId',
  'organization_member.identity_id as identityId',
  'role',
  'named_by_directory as namedByDirectory',
] as const

/** A membership with its organization. */
export type Membership = Awaited<ReturnType<typeof listMembershipsOfSession>>[number]

/**
 * The memberships of some identities, the one that began first before the others. These are found before their
 * organizations, of which each may have many members.
 */
function everyMembership(db: Database, ofIdentities: RawBuilder<boolean>) {
  return db
    .selectFrom(({ selectFrom }) =>
      selectFrom('organization_member').selectAll().where(ofIdentities).offset(0).as('organization_member'),
    )
    .innerJoin('organization', 'organization.organization_id', 'organization_member.organization_id')
    .select([...organization, ...member])
    .select(['signing_authority as signingAuthority', 'joined_at as joinedAt'])
    .select(({ ref }) => ref('scopes').$castTo<OrganizationScope[]>().as('scopes'))
    .orderBy('joined_at')
    .orderBy('member_id')
}

/** Those in organizations that are active. */
function memberships(db: Database, ofIdentities: RawBuilder<boolean>) {
  return everyMembership(db, ofIdentities).where('status', '=', 'active')
}

export function listAllMemberships(db: Database, userId: string) {
  return everyMembership(db, isOfUser(db, userId)).execute()
}

const isOfIdentity = (identityId: string) => sql<boolean>`organization_member.identity_id = ${identityId}`

function isOfUser(db: Database, userId: string) {
  const identities = db.selectFrom('identity').select('identity.identity_id').where('identity.user_id', '=', userId)
  return sql<boolean>`organization_member.identity_id = any(array${identities})`
}

type OfSession = Pick<Session, 'userId' | 'sessionId' | 'authMethod'>
type Wanted = { organizationId?: string | undefined; identityId?: string | undefined }

/**
 * As what the person of a session is a member: of any organization or of one, as any of their identities or as one. A
 * session without a passkey is for the organizations that have opened it, as the identity that they named.
 */
export function listMembershipsOfSession(db: Database, session: OfSession, wanted: Wanted = {}) {
  const { organizationId, identityId } = wanted
  return memberships(db, isOfUser(db, session.userId))
    .$if(session.authMethod !== 'passkey', (some) =>
      some.where(({ exists, selectFrom }) =>
        exists(
          selectFrom('session_enterprise_sso as named')
            .select('named.session_id')
            .where('named.session_id', '=', session.sessionId)
            .whereRef('named.organization_id', '=', 'organization_member.organization_id')
            .whereRef('named.identity_id', '=', 'organization_member.identity_id'),
        ),
      ),
    )
    .$if(organizationId !== undefined, (some) =>
      some.where('organization_member.organization_id', '=', organizationId ?? ''),
    )
    .$if(identityId !== undefined, (some) => some.where('organization_member.identity_id', '=', identityId ?? ''))
    .execute()
}

export function listMembershipsOfIdentity(db: Database, identityId: string) {
  return memberships(db, isOfIdentity(identityId)).execute()
}

export function findMembershipOfIdentity(db: Database, organizationId: string, identityId: string) {
  return memberships(db, isOfIdentity(identityId))
    .where('organization_member.organization_id', '=', organizationId)
    .executeTakeFirst()
}

export async function countMemberships(db: Database, identityId: string): Promise<number> {
  const { count } = await db
    .selectFrom('organization_member')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('identity_id', '=', identityId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

type NewOrganization = { organizationId: string; name: string; slug: string }

/** Inserts an organization that is about to get its first owner. */
export async function insertOrganization(tx: Transaction, { organizationId, name, slug }: NewOrganization, now: Date) {
  await tx
    .insertInto('organization')
    .values({ organization_id: organizationId, name, slug, owner_count: 1, created_at: now, updated_at: now })
    .execute()
}

export function findOrganization(db: Database, organizationId: string) {
  return db
    .selectFrom('organization')
    .select(organization)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

/** Locks an organization until the transaction ends, so that nobody else changes it or its members. */
export function lockOrganization(tx: Transaction, organizationId: string) {
  return tx
    .selectFrom('organization')
    .select(organization)
    .where('organization_id', '=', organizationId)
    .forUpdate()
    .executeTakeFirst()
}

/** Holds an organization as it is until the transaction ends, beside others who do the same. */
export async function shareOrganization(tx: Transaction, organizationId: string): Promise<void> {
  await tx
    .selectFrom('organization')
    .select('organization_id')
    .where('organization_id', '=', organizationId)
    .forShare()
    .execute()
}

type Change = {
  name?: string | undefined
  slug?: string | undefined
  logoUrl?: string | null | undefined
  ssoRequired?: boolean | undefined
  requireSignedActions?: boolean | undefined
  encryptionMode?: Membership['encryptionMode'] | undefined
  approvalsNeeded?: number | undefined
}

type Changed = Change & { organizationId: string }

export async function updateOrganization(
  tx: Transaction,
  { organizationId, name, slug, logoUrl, ssoRequired, ...change }: Changed,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('organization')
    .set({
      updated_at: now,
      ...(name !== undefined && { name }),
      ...(slug !== undefined && { slug }),
      ...(logoUrl !== undefined && { logo_url: logoUrl }),
      ...(ssoRequired !== undefined && { sso_required: ssoRequired }),
      ...(change.requireSignedActions !== undefined && { require_signed_actions: change.requireSignedActions }),
      ...(change.approvalsNeeded !== undefined && { approvals_needed: change.approvalsNeeded }),
      ...(change.encryptionMode !== undefined && { encryption_mode: change.encryptionMode }),
    })
    .where('organization_id', '=', organizationId)
    .execute()
}

/** Deletes an organization with its members, invitations and domains. */
export async function deleteOrganization(tx: Transaction, organizationId: string): Promise<void> {
  await tx.deleteFrom('organization').where('organization_id', '=', organizationId).execute()
  // After its claims: whoever settles one of them takes both in this order too.
  await domainsStore.releaseDomains(tx, organizationId)
}

/** Sets its connection; false where that is none, and everybody must sign in with one. */
export async function updateSsoConnection(
  tx: Transaction,
  organizationId: string,
  connectionId: string | null,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set({ sso_connection_id: connectionId })
    .where('organization_id', '=', organizationId)
    .$if(connectionId === null, (some) => some.where('sso_required', '=', false))
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** The organizations that any of these identities is a member of, in the order in which they are locked. */
export async function listOrganizationsOf(db: Database, identityIds: string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('organization_member')
    .select('organization_id as organizationId')
    .distinct()
    .where('identity_id', 'in', identityIds)
    .orderBy('organization_id')
    .execute()
  return rows.map(({ organizationId }) => organizationId)
}

/** The public key that an identity signs with now. */
export async function findSigningKey(db: Database, identityId: string): Promise<Uint8Array | undefined> {
  const found = await db
    .selectFrom('signing_key')
    .select('public_key as publicKey')
    .where('identity_id', '=', identityId)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return found?.publicKey
}

type Listing = { organizationId?: string; before?: string | undefined; count: number }

/** So many organizations, the newest first: all, those that are older than `before`, or one. */
export function listOrganizations(db: Database, { organizationId, before, count }: Listing) {
  return db
    .selectFrom('organization')
    .select([
      'organization.organization_id as organizationId',
      'name',
      'slug',
      'status',
      'owner_count as owners',
      'sso_required as ssoRequired',
      'created_at as createdAt',
    ])
    .select(({ selectFrom }) =>
      selectFrom('organization_member')
        .select(({ fn }) => fn.countAll<string>().as('count'))
        .whereRef('organization_member.organization_id', '=', 'organization.organization_id')
        .$asScalar()
        .$notNull()
        .as('members'),
    )
    .$if(organizationId !== undefined, (one) => one.where('organization_id', '=', organizationId ?? ''))
    .$if(before !== undefined, (older) => older.where('organization_id', '<', before ?? ''))
    .orderBy('organization_id', 'desc')
    .limit(count)
    .execute()
}

export async function updateStatus(
  tx: Transaction,
  { organizationId, status }: { organizationId: string; status: 'active' | 'suspended' },
  now: Date,
): Promise<void> {
  await tx
    .updateTable('organization')
    .set({ status, updated_at: now })
    .where('organization_id', '=', organizationId)
    .execute()
}
