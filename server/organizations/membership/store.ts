import type { OrganizationScope } from '@countersign/protocol/formats/role'
import type { ClientId, IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import { sql, type RawBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { replicaOf } from '#platform/database/distributed/engine.ts'
import type { Session } from '#accounts/sessions/session.ts'

/** Organization choices that an identity made when it connected an app; null if it was not asked. */
export async function findOrganizationAccess(db: Database, identityId: IdentityId, clientId: ClientId) {
  const consent = await db
    .selectFrom('authorization_consent')
    .select('organization_access as organizationAccess')
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .executeTakeFirst()
  return consent?.organizationAccess ?? null
}

export type Organization = {
  organizationId: OrganizationId
  name: string
  slug: string
  logoUrl: string | null
  status: 'active' | 'suspended'
  encryptionMode: 'standard' | 'enterprise_managed' | 'e2ee'
  /** Connection with which a sign-in meets the SSO requirement. */
  ssoConnectionId: string | null
  ssoRequired: boolean
  requireSignedActions: boolean
  /** Approvals that a signature of the organization needs. */
  approvalsNeeded: number
  createdAt: Date
  updatedAt: Date
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

/** Reads what the council has admitted a member for, where there is one: no other organization costs a lookup. */
const admittedTo = (right: 'may_sign' | 'may_approve') => sql<boolean | null>`case when approvals_needed > 0 then (
  select ${sql.ref(right)} from organization_signatory signatory
  where signatory.organization_id = organization_member.organization_id
    and signatory.identity_id = organization_member.identity_id and suspended_at is null
) end`

/** A membership with its organization. */
export type Membership = Awaited<ReturnType<typeof listMembershipsOfSession>>[number]

/**
 * Lists the memberships of some identities, oldest first. The query finds them before their organizations, because an
 * organization can have many members.
 */
function everyMembership(db: Database, ofIdentities: RawBuilder<boolean>) {
  return db
    .selectFrom(({ selectFrom }) =>
      selectFrom('organization_member').selectAll().where(ofIdentities).offset(0).as('organization_member'),
    )
    .innerJoin('organization', 'organization.organization_id', 'organization_member.organization_id')
    .select([...organization, ...member])
    .select([admittedTo('may_sign').as('isAdmittedToSign'), admittedTo('may_approve').as('isAdmittedToApprove')])
    .select(['signing_authority as signingAuthority', 'joined_at as joinedAt'])
    .select(({ ref }) => ref('scopes').$castTo<OrganizationScope[]>().as('scopes'))
    .orderBy('joined_at')
    .orderBy('member_id')
}

/** Lists memberships in active organizations. */
function memberships(db: Database, ofIdentities: RawBuilder<boolean>) {
  return everyMembership(db, ofIdentities).where('status', '=', 'active')
}

export function listAllMemberships(db: Database, userId: UserId) {
  return everyMembership(db, isOfUser(db, userId)).execute()
}

const isOfIdentity = (identityId: IdentityId) => sql<boolean>`organization_member.identity_id = ${identityId}`

function isOfUser(db: Database, userId: UserId, usableAt?: Date) {
  const own = db.selectFrom('identity').select('identity.identity_id').where('identity.user_id', '=', userId)
  const identities =
    usableAt === undefined
      ? own
      : own.where(({ eb, or }) => or([eb('suspended_at', 'is', null), eb('suspended_until', '<=', usableAt)]))
  return sql<boolean>`organization_member.identity_id = any(array${identities})`
}

type OfSession = Pick<Session, 'userId' | 'sessionId' | 'authMethod'>
type MembershipFilter = {
  organizationId?: OrganizationId | undefined
  identityId?: IdentityId | undefined
  /** Leaves out the memberships of identities that are suspended at this instant. */
  usableAt?: Date | undefined
}

/**
 * Lists the memberships that a session can use: in any organization or in one, with any identity of the user or with
 * one. A session without a passkey can only use the organizations that opened it, as the identity that they named.
 */
export function listMembershipsOfSession(db: Database, session: OfSession, requested: MembershipFilter = {}) {
  const { organizationId, identityId, usableAt } = requested
  const usable = memberships(db, isOfUser(db, session.userId, usableAt)).$if(session.authMethod !== 'passkey', (some) =>
    some.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('session_sso_authentication as named')
          .select('named.session_id')
          .where('named.session_id', '=', session.sessionId)
          .whereRef('named.organization_id', '=', 'organization_member.organization_id')
          .whereRef('named.identity_id', '=', 'organization_member.identity_id'),
      ),
    ),
  )
  const inOne =
    organizationId === undefined ? usable : usable.where('organization_member.organization_id', '=', organizationId)
  const asOne = identityId === undefined ? inOne : inOne.where('organization_member.identity_id', '=', identityId)
  return asOne.execute()
}

export function listMembershipsOfIdentity(db: Database, identityId: IdentityId) {
  return memberships(db, isOfIdentity(identityId)).execute()
}

export function findMembershipOfIdentity(db: Database, organizationId: OrganizationId, identityId: IdentityId) {
  return memberships(db, isOfIdentity(identityId))
    .where('organization_member.organization_id', '=', organizationId)
    .executeTakeFirst()
}

export function findOrganization(db: Database, organizationId: OrganizationId): Promise<Organization | undefined> {
  return db
    .selectFrom('organization')
    .select(organization)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

/** Locks an organization for update until the transaction ends. Nothing else can change it or its members. */
export function lockOrganization(tx: Transaction, organizationId: OrganizationId): Promise<Organization | undefined> {
  return tx
    .selectFrom('organization')
    .select(organization)
    .where('organization_id', '=', organizationId)
    .forUpdate()
    .executeTakeFirst()
}

/**
 * Locks an organization for share until the transaction ends. Other transactions can share the lock. Returns false if
 * it does not exist.
 */
export async function lockOrganizationShared(tx: Transaction, organizationId: OrganizationId): Promise<boolean> {
  const { rows } = await sql`
    select organization_id from ${replicaOf(tx, 'organization')}
    where organization_id = ${organizationId} for share`.execute(tx)
  return rows.length === 1
}
