import { sql } from 'kysely'
import type { IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

/** What a council admits a member for. */
export type SignatoryRights = { maySign: boolean; mayApprove: boolean }

/** Signatory as admitted, and what remains of the permissions as a member. `memberId` is null for former members. */
export type SignatoryRow = {
  identityId: IdentityId
  userId: UserId
  memberId: string | null
  handle: string
  displayName: string
  admittedAt: Date
  suspendedAt: Date | null
} & SignatoryRights

/** Lists the signatories of an organization, in the order in which they were admitted. */
export async function listSignatories(db: Database, organizationId: OrganizationId): Promise<SignatoryRow[]> {
  const { rows } = await sql<SignatoryRow>`
    select signatory.identity_id as "identityId", signatory.user_id as "userId", member_id as "memberId", handle,
      display_name as "displayName", admitted_at as "admittedAt", signatory.suspended_at as "suspendedAt",
      may_sign and coalesce(signing_authority and 'sign' = any(scopes), false) as "maySign",
      may_approve and coalesce('approve' = any(scopes), false) as "mayApprove"
    from organization_signatory signatory join identity on identity.identity_id = signatory.identity_id
    left join organization_member member
      on member.organization_id = signatory.organization_id and member.identity_id = signatory.identity_id
    where signatory.organization_id = ${organizationId}
    order by admitted_at, signatory.identity_id`.execute(db)
  return rows
}

export type Candidate = { identityId: IdentityId; userId: UserId } & SignatoryRights

/**
 * Lists the members who could be signatories by their permissions: of each user one identity, in the order in which
 * they joined. That is `acting`, with which its user signs the founding, or preferably one with a signing key.
 */
export async function listCandidates(
  db: Database,
  organizationId: OrganizationId,
  acting: IdentityId,
): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    select "identityId", "userId", "maySign", "mayApprove" from (
      select distinct on (identity.user_id) identity.user_id as "userId", member.identity_id as "identityId", joined_at,
        signing_authority and 'sign' = any(scopes) as "maySign", 'approve' = any(scopes) as "mayApprove"
      from organization_member member join identity on identity.identity_id = member.identity_id
      left join signing_key on signing_key.identity_id = identity.identity_id and replaced_at is null
      where organization_id = ${organizationId}
        and (signing_authority and 'sign' = any(scopes) or 'approve' = any(scopes))
      order by identity.user_id, member.identity_id <> ${acting}, signing_key.identity_id is null, joined_at,
        member.identity_id
    ) candidate order by joined_at, "identityId"`.execute(db)
  return rows
}

/** Finds a member who could be a signatory by their permissions. */
export async function findCandidate(
  db: Database,
  organizationId: OrganizationId,
  identityId: IdentityId,
): Promise<Candidate | undefined> {
  const { rows } = await sql<Candidate>`
    select identity.user_id as "userId", member.identity_id as "identityId",
      signing_authority and 'sign' = any(scopes) as "maySign", 'approve' = any(scopes) as "mayApprove"
    from organization_member member join identity on identity.identity_id = member.identity_id
    where organization_id = ${organizationId} and member.identity_id = ${identityId}
      and (signing_authority and 'sign' = any(scopes) or 'approve' = any(scopes))`.execute(db)
  return rows[0]
}

/**
 * Admits a signatory, or restores one with other rights. An earlier entry of the same user is replaced if it is
 * suspended. Returns false if the user is a signatory in force with another identity.
 */
export async function upsertSignatory(
  tx: Transaction,
  organizationId: OrganizationId,
  { identityId, userId, maySign, mayApprove }: Candidate,
  now: Date,
): Promise<boolean> {
  const { rows } = await sql<{ identity_id: IdentityId }>`
    insert into organization_signatory (organization_id, identity_id, user_id, may_sign, may_approve, admitted_at)
    values (${organizationId}, ${identityId}, ${userId}, ${maySign}, ${mayApprove}, ${now})
    on conflict (organization_id, user_id) do update set identity_id = excluded.identity_id,
      may_sign = excluded.may_sign, may_approve = excluded.may_approve, admitted_at = excluded.admitted_at,
      suspended_at = null
    where organization_signatory.identity_id = excluded.identity_id or organization_signatory.suspended_at is not null
    returning identity_id`.execute(tx)
  return rows.length === 1
}

/** Suspends a signatory in force. Returns false if there is none with this identity. */
export async function suspendSignatory(
  tx: Transaction,
  organizationId: OrganizationId,
  identityId: IdentityId,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization_signatory')
    .set({ suspended_at: now })
    .where('organization_id', '=', organizationId)
    .where('identity_id', '=', identityId)
    .where('suspended_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Suspends those of these identities that have none of their admitted rights any more. Returns their number. */
export async function suspendWithout(
  tx: Transaction,
  organizationId: OrganizationId,
  { identityIds, maySign, mayApprove }: SignatoryRights & { identityIds: IdentityId[] },
  now: Date,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update organization_signatory set suspended_at = ${now}
    where organization_id = ${organizationId} and identity_id = any(${identityIds}::uuid[]) and suspended_at is null
      and not (may_sign and ${maySign} or may_approve and ${mayApprove})`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}

export async function deleteSignatories(tx: Transaction, organizationId: OrganizationId): Promise<void> {
  await tx.deleteFrom('organization_signatory').where('organization_id', '=', organizationId).execute()
}

export async function deleteSignatoriesOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('organization_signatory').where('identity_id', 'in', identityIds).execute()
}

/** Finds the identity with which a user is a signatory, also a suspended one. */
export async function findSignatoryOfUser(
  db: Database,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<IdentityId | undefined> {
  const found = await db
    .selectFrom('organization_signatory')
    .select('identity_id as identityId')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return found?.identityId
}

export type ResetRow = { requestedAt: Date | null; resetAt: Date | null }

export async function findReset(db: Database, organizationId: OrganizationId): Promise<ResetRow> {
  const found = await db
    .selectFrom('organization_council_reset')
    .select(['requested_at as requestedAt', 'reset_at as resetAt'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return found ?? { requestedAt: null, resetAt: null }
}

/** Stores the state of resets. The caller has locked the organization. */
export async function updateReset(
  tx: Transaction,
  organizationId: OrganizationId,
  { requestedAt, resetAt }: ResetRow,
): Promise<void> {
  if (requestedAt === null && resetAt === null) {
    await tx.deleteFrom('organization_council_reset').where('organization_id', '=', organizationId).execute()
    return
  }
  const columns = { requested_at: requestedAt, reset_at: resetAt }
  await tx
    .insertInto('organization_council_reset')
    .values({ organization_id: organizationId, ...columns })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(columns))
    .execute()
}

/** Lists the requests for resets that were not vetoed or completed, also those that have expired. */
export function listResetRequests(tx: Transaction): Promise<{ organizationId: OrganizationId; requestedAt: Date }[]> {
  return tx
    .selectFrom('organization_council_reset')
    .select(['organization_id as organizationId', 'requested_at as requestedAt'])
    .where('requested_at', 'is not', null)
    .$narrowType<{ requestedAt: Date }>()
    .execute()
}
