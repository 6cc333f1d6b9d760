import { type RawBuilder, sql } from 'kysely'
import type { IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { findKeys, readFirst } from '#platform/database/distributed/keys.ts'
import { plannedForValues } from '#platform/database/statement-names.ts'
import { changeInParts } from '#platform/module/batches.ts'
import type { toApprovalColumns } from '#signing/requests/approvals/approval.ts'

/** Key of a request to an organization; the organization comes first. */
export type OrganizationRequestKey = { organizationId: OrganizationId; requestId: string }

/**
 * SQL condition: the organization of a signature has no council, or its council has admitted the signer for the role.
 */
const isAdmitted = sql<boolean>`(
  exists (
    select from organization_signatory signatory
    where signatory.organization_id = signing_organization_signature.organization_id
      and signatory.identity_id = signing_organization_signature.identity_id and suspended_at is null
      and case signing_organization_signature.role when 'sign' then may_sign else may_approve end
  ) or exists (
    select from organization
    where organization.organization_id = signing_organization_signature.organization_id
      and organization.approvals_needed = 0
  )
)`

/**
 * Builds a SQL condition: the signature of a member of one of these organizations still counts, because the member has
 * the permission, also by the council of the organization, and the key is current.
 */
export function isValidSignature(db: Database | Transaction, organizationIds: OrganizationId[]): RawBuilder<boolean> {
  const keys = sql`
    select signing_key.* from signing_key join organization_member using (identity_id)
    where organization_id = any(${organizationIds}::uuid[])`
  return sql`exists (
    select from organization_member member
      join ${readFirst(db, 'signing_key', keys)} signing_key on signing_key.identity_id = member.identity_id
    where member.organization_id = signing_organization_signature.organization_id
      and member.member_id = signing_organization_signature.member_id
      and signing_key.key_version = signing_organization_signature.key_version and signing_key.replaced_at is null
      and case signing_organization_signature.role
        when 'sign' then member.signing_authority and 'sign' = any(member.scopes)
        else 'approve' = any(member.scopes) end
      and ${isAdmitted}
  )`
}

const approvalColumns = [
  'approval_statement as approvalStatement',
  'approval_signature as approvalSignature',
  'approval_presence as approvalPresence',
] as const

/** Selects member signatures, oldest first. */
function answers(db: Database) {
  return db
    .selectFrom('signing_organization_signature')
    .innerJoin('signing_organization_request', (join) =>
      join
        .onRef('signing_organization_request.organization_id', '=', 'signing_organization_signature.organization_id')
        .onRef('signing_organization_request.request_id', '=', 'signing_organization_signature.request_id'),
    )
    .select([
      'identity_id as identityId',
      'member_id as memberId',
      'role',
      'key_version as keyVersion',
      'public_key as publicKey',
      'signature',
      'signed_handle as signedAs',
      'signed_at as answeredAt',
      'admitted_at as admittedAt',
      ...approvalColumns,
    ])
    .orderBy('signed_at')
    .orderBy('identity_id')
}

/** Lists the member signatures of a request that count; for a signed request, those that counted then. */
export function listMemberSignatures(db: Database, { organizationId, requestId }: OrganizationRequestKey) {
  return answers(db)
    .where('signing_organization_signature.organization_id', '=', organizationId)
    .where('signing_organization_signature.request_id', '=', requestId)
    .where(({ or, eb }) => or([eb('status', '=', 'signed'), isValidSignature(db, [organizationId])]))
    .execute()
}

/** Lists the member signatures of several requests. */
export function listMemberSignaturesOf(db: Database, places: OrganizationRequestKey[]) {
  const organizationIds = places.map(({ organizationId }) => organizationId)
  const requestIds = places.map(({ requestId }) => requestId)
  return answers(db)
    .select('signing_organization_signature.request_id as requestId')
    .where(({ or, eb }) => or([eb('status', '=', 'signed'), isValidSignature(db, organizationIds)]))
    .where(
      sql<boolean>`(signing_organization_signature.organization_id, signing_organization_signature.request_id)
        in (select * from unnest(${organizationIds}::uuid[], ${requestIds}::uuid[]))`,
    )
    .execute()
}
export type StoredMemberSignature = Awaited<ReturnType<typeof listMemberSignatures>>[number]

/** Checks that a user has signed or approved a request that an organization has signed. */
export async function hasSigned(
  db: Database,
  userId: UserId,
  { organizationId, requestId }: OrganizationRequestKey,
): Promise<boolean> {
  const found = await db
    .selectFrom('signing_organization_signature as answer')
    .innerJoin('signing_organization_request as request', (join) =>
      join
        .onRef('request.organization_id', '=', 'answer.organization_id')
        .onRef('request.request_id', '=', 'answer.request_id'),
    )
    .innerJoin('identity', 'identity.identity_id', 'answer.identity_id')
    .select('answer.identity_id')
    .where('answer.organization_id', '=', organizationId)
    .where('answer.request_id', '=', requestId)
    .where('request.status', '=', 'signed')
    .where('identity.user_id', '=', userId)
    .executeTakeFirst()
  return found !== undefined
}

/** Checks that a user has answered a request with an approval that counts, by any identity. */
export async function hasApproved(
  tx: Transaction,
  { organizationId, requestId }: OrganizationRequestKey,
  userId: UserId,
): Promise<boolean> {
  const own = await findKeys(tx, tx.selectFrom('identity').select('identity_id').where('user_id', '=', userId))
  const found = await tx
    .selectFrom('signing_organization_signature')
    .select('identity_id')
    .where('organization_id', '=', organizationId)
    .where('request_id', '=', requestId)
    .where(sql<boolean>`identity_id = any(${own})`)
    .where('approval_statement', 'is not', null)
    .where(isValidSignature(tx, [organizationId]))
    .executeTakeFirst()
  return found !== undefined
}

/** Lists those of the identities that have a signing key, with handle and key. */
export function listSigners(db: Database, identityIds: IdentityId[]) {
  return db
    .selectFrom('signing_key')
    .innerJoin('identity', 'identity.identity_id', 'signing_key.identity_id')
    .select(['signing_key.identity_id as identityId', 'handle', 'public_key as publicKey', 'key_version as keyVersion'])
    .where('signing_key.identity_id', 'in', identityIds)
    .where('identity.identity_id', 'in', identityIds)
    .where('replaced_at', 'is', null)
    .execute()
}
export type Signer = Awaited<ReturnType<typeof listSigners>>[number]

type NewAnswer = {
  identityId: IdentityId
  memberId: string
  role: 'sign' | 'approve'
  publicKey: Uint8Array
  signature: Uint8Array
  approval: Partial<ReturnType<typeof toApprovalColumns>>
}

/**
 * Stores a member's signature and replaces any earlier one of the same user for the request, by this or another
 * identity. Returns false if the key is not current any more.
 */
export async function upsertMemberSignature(
  tx: Transaction,
  { organizationId, requestId }: OrganizationRequestKey,
  { identityId, memberId, role, publicKey, signature, approval }: NewAnswer,
  now: Date,
): Promise<boolean> {
  const users = await findKeys(tx, tx.selectFrom('identity').select('user_id').where('identity_id', '=', identityId))
  const own = tx
    .selectFrom('identity')
    .select('identity_id')
    .where(sql<boolean>`user_id = any(${users})`)
  await tx
    .deleteFrom('signing_organization_signature')
    .where('organization_id', '=', organizationId)
    .where('request_id', '=', requestId)
    .where(sql<boolean>`identity_id = any(${await findKeys(tx, own)})`)
    .execute()
  const { rows } = await sql<{ identity_id: IdentityId }>`
    insert into signing_organization_signature (organization_id, request_id, identity_id, member_id, role, key_version,
      public_key, signature, signed_handle, signed_at, admitted_at, approval_statement, approval_signature,
      approval_presence, approval_evidence)
    select ${organizationId}::uuid, ${requestId}::uuid, identity_id, ${memberId}::uuid, ${role}, key_version,
      public_key, ${signature}::bytea, handle, ${now}::timestamptz,
      (
        select admitted_at from organization_signatory signatory
        where signatory.organization_id = ${organizationId} and signatory.identity_id = identity.identity_id
      ),
      ${approval.approval_statement}::text, ${approval.approval_signature}::bytea,
      ${approval.approval_presence}::bytea, ${approval.approval_evidence}::text
    from identity join signing_key using (identity_id)
    where identity_id = ${identityId} and replaced_at is null and public_key = ${publicKey}
    returning identity_id`.execute(tx)
  return rows.length === 1
}

/** Deletes the signatures of requests that have ended unsigned. */
export async function deleteAnswers(tx: Transaction, places: OrganizationRequestKey[]): Promise<void> {
  const organizationIds = places.map(({ organizationId }) => organizationId)
  const requestIds = places.map(({ requestId }) => requestId)
  await sql`
    delete from signing_organization_signature
    using unnest(${organizationIds}::uuid[], ${requestIds}::uuid[]) as place (organization_id, request_id)
    where signing_organization_signature.organization_id = place.organization_id
      and signing_organization_signature.request_id = place.request_id`.execute(tx)
}

export type AnswerOfIdentity = Awaited<ReturnType<typeof listAnswersOfIdentity>>[number]
type Position = { answeredAt: Date; requestId: string }

/** Start position of a list with the newest first. */
const latest: Position = {
  answeredAt: new Date('9999-12-31T23:59:59Z'),
  requestId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
}

/**
 * Lists what an identity has signed for organizations, newest first: `count` answers, optionally before a given one.
 */
export function listAnswersOfIdentity(
  db: Database,
  identityId: IdentityId,
  { before = latest, count }: { before?: Position | undefined; count: number },
) {
  const { answeredAt, requestId } = before
  return db
    .selectFrom('signing_organization_signature')
    .innerJoin('signing_organization_request', (join) =>
      join
        .onRef('signing_organization_request.organization_id', '=', 'signing_organization_signature.organization_id')
        .onRef('signing_organization_request.request_id', '=', 'signing_organization_signature.request_id'),
    )
    .select([
      'signing_organization_request.organization_id as organizationId',
      'organization_name as organizationName',
      'signing_organization_request.request_id as requestId',
      'client_id as clientId',
      'payload',
      'status',
      'role',
      'public_key as publicKey',
      'signature',
      'signed_at as answeredAt',
      ...approvalColumns,
      'approval_evidence as approvalEvidence',
    ])
    .where('identity_id', '=', identityId)
    .where(
      sql<boolean>`(signed_at, signing_organization_signature.request_id)
        < (${answeredAt}::timestamptz, ${requestId}::uuid)`,
    )
    .orderBy('signed_at', 'desc')
    .orderBy('signing_organization_signature.request_id', 'desc')
    .limit(count)
    .execute()
}

/** Deletes the signatures that identities have given to pending requests. */
export async function deletePendingSignatures(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await sql`
    delete from signing_organization_signature using signing_organization_request request
    where signing_organization_signature.identity_id = any(${identityIds}::uuid[]) and status = 'pending'
      and request.organization_id = signing_organization_signature.organization_id
      and request.request_id = signing_organization_signature.request_id`.execute(tx)
}

/**
 * Deletes the signatures that identities being deleted have given to pending requests. Completed signatures stay with
 * the organization, under the identity's ID only: approvals contain the username.
 */
export async function deleteMemberSignatures(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await deletePendingSignatures(tx, identityIds)
  for (const identityId of identityIds)
    await changeInParts<SignatureKey>(
      (count, after) => listSignatureKeys(tx, identityId, { after, count }),
      (keys) =>
        // No two organizations have a request with the same ID.
        sql`${plannedForValues} update signing_organization_signature
          set signed_handle = null, approval_statement = null, approval_signature = null, approval_presence = null,
            approval_evidence = null
          where identity_id = ${identityId} and request_id = any(${keys.map(({ requestId }) => requestId)}::uuid[])
            and organization_id = any(${[...new Set(keys.map((each) => each.organizationId))]}::uuid[])`.execute(tx),
    )
}

type SignatureKey = OrganizationRequestKey & { signedAt: Date }

/** Lists the requests that an identity has signed, in the order of their signatures, after one of them. */
async function listSignatureKeys(
  tx: Transaction,
  identityId: IdentityId,
  { after, count }: { after: SignatureKey | undefined; count: number },
): Promise<SignatureKey[]> {
  const following = sql`(signed_at, request_id) > (${after?.signedAt}::timestamptz, ${after?.requestId}::uuid)`
  const { rows } = await sql<SignatureKey>`
    select organization_id as "organizationId", request_id as "requestId", signed_at as "signedAt"
    from signing_organization_signature where identity_id = ${identityId} and ${after ? following : sql`true`}
    order by signed_at, request_id limit ${count}`.execute(tx)
  return rows
}
