import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Acting } from '#accounts/sessions/session.ts'

/** Where a request is: its organization comes first in its key. */
export type Place = { organizationId: string; requestId: string }

/** Whether what a member has signed counts still: they may do so, and the key is in force. */
export const stands = sql<boolean>`exists (
  select from organization_member member join signing_key on signing_key.identity_id = member.identity_id
  where member.organization_id = signing_organization_answer.organization_id
    and member.member_id = signing_organization_answer.member_id
    and signing_key.key_version = signing_organization_answer.key_version and signing_key.ended_at is null
    and case signing_organization_answer.role
      when 'sign' then member.signing_authority and 'sign' = any(member.scopes)
      else 'approve' = any(member.scopes) end
)`

/** How many answers of a role to a request count, in a statement about that request. */
export const countStanding = (role: 'sign' | 'approve') => sql`(
  select count(*) from signing_organization_answer
  where signing_organization_answer.organization_id = signing_organization_request.organization_id
    and signing_organization_answer.request_id = signing_organization_request.request_id
    and role = ${role} and ${stands}
)`

/** What members have signed, the first first. */
function answers(db: Database) {
  return db
    .selectFrom('signing_organization_answer')
    .innerJoin('signing_organization_request', (join) =>
      join
        .onRef('signing_organization_request.organization_id', '=', 'signing_organization_answer.organization_id')
        .onRef('signing_organization_request.request_id', '=', 'signing_organization_answer.request_id'),
    )
    .select([
      'identity_id as identityId',
      'member_id as memberId',
      'role',
      'key_version as keyVersion',
      'public_key as publicKey',
      'signature',
      'signed_as as signedAs',
      'answered_at as answeredAt',
    ])
    .orderBy('answered_at')
    .orderBy('identity_id')
}

/** What counts of what members have signed: of a request that is signed, what counted then. */
export function listAnswers(db: Database, { organizationId, requestId }: Place) {
  return answers(db)
    .where('signing_organization_answer.organization_id', '=', organizationId)
    .where('signing_organization_answer.request_id', '=', requestId)
    .where(({ or, eb }) => or([eb('status', '=', 'signed'), stands]))
    .execute()
}

/** The same of several requests. */
export function listAnswersTo(db: Database, places: Place[]) {
  const organizationIds = places.map(({ organizationId }) => organizationId)
  const requestIds = places.map(({ requestId }) => requestId)
  return answers(db)
    .select('signing_organization_answer.request_id as requestId')
    .where(({ or, eb }) => or([eb('status', '=', 'signed'), stands]))
    .where(
      sql<boolean>`(signing_organization_answer.organization_id, signing_organization_answer.request_id)
        in (select * from unnest(${organizationIds}::uuid[], ${requestIds}::uuid[]))`,
    )
    .execute()
}
export type StoredAnswer = Awaited<ReturnType<typeof listAnswers>>[number]

/** Whether a person is one of those who have signed or approved what an organization has signed. */
export async function hasSigned(
  db: Database,
  { userId, identityId }: Acting,
  { organizationId, requestId }: Place,
): Promise<boolean> {
  const found = await db
    .selectFrom('signing_organization_answer as answer')
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
    .$if(identityId !== null, (alone) => alone.where('answer.identity_id', '=', identityId))
    .executeTakeFirst()
  return found !== undefined
}

/** Those of these identities that have a signing key: by which handle they sign, and with which key. */
export function listSigners(db: Database, identityIds: string[]) {
  return db
    .selectFrom('signing_key')
    .innerJoin('identity', 'identity.identity_id', 'signing_key.identity_id')
    .select(['signing_key.identity_id as identityId', 'handle', 'public_key as publicKey'])
    .where('signing_key.identity_id', 'in', identityIds)
    .where('ended_at', 'is', null)
    .execute()
}
export type Signer = Awaited<ReturnType<typeof listSigners>>[number]

type NewAnswer = {
  identityId: string
  memberId: string
  role: 'sign' | 'approve'
  publicKey: Uint8Array
  signature: Uint8Array
}

/**
 * Keeps what a member has signed, in the place of whatever the same person has signed of the request before, as this
 * identity or another; false where the key is not in force any more.
 */
export async function replaceAnswer(
  tx: Transaction,
  { organizationId, requestId }: Place,
  { identityId, memberId, role, publicKey, signature }: NewAnswer,
  now: Date,
): Promise<boolean> {
  await sql`
    delete from signing_organization_answer using identity one, identity other
    where organization_id = ${organizationId} and request_id = ${requestId}
      and signing_organization_answer.identity_id = other.identity_id
      and other.user_id = one.user_id and one.identity_id = ${identityId}`.execute(tx)
  const { rows } = await sql<{ identity_id: string }>`
    insert into signing_organization_answer (organization_id, request_id, identity_id, member_id, role, key_version,
      public_key, signature, signed_as, answered_at)
    select ${organizationId}::uuid, ${requestId}::uuid, identity_id, ${memberId}::uuid, ${role}, key_version,
      public_key, ${signature}::bytea, handle, ${now}::timestamptz
    from identity join signing_key using (identity_id)
    where identity_id = ${identityId} and ended_at is null and public_key = ${publicKey}
    returning identity_id`.execute(tx)
  return rows.length === 1
}

/** Forgets what was signed of requests that have ended otherwise. */
export async function deleteAnswers(tx: Transaction, places: Place[]): Promise<void> {
  const organizationIds = places.map(({ organizationId }) => organizationId)
  const requestIds = places.map(({ requestId }) => requestId)
  await sql`
    delete from signing_organization_answer
    using unnest(${organizationIds}::uuid[], ${requestIds}::uuid[]) as place (organization_id, request_id)
    where signing_organization_answer.organization_id = place.organization_id
      and signing_organization_answer.request_id = place.request_id`.execute(tx)
}

export type AnswerOfIdentity = Awaited<ReturnType<typeof listAnswersOfIdentity>>[number]
type Position = { answeredAt: Date; requestId: string }

/** Where a list begins that tells the latest first. */
const latest: Position = {
  answeredAt: new Date('9999-12-31T23:59:59Z'),
  requestId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
}

/** What an identity has signed for organizations, the latest first: `count` answers, of all or of those before one. */
export function listAnswersOfIdentity(
  db: Database,
  identityId: string,
  { before = latest, count }: { before?: Position | undefined; count: number },
) {
  const { answeredAt, requestId } = before
  return db
    .selectFrom('signing_organization_answer')
    .innerJoin('signing_organization_request', (join) =>
      join
        .onRef('signing_organization_request.organization_id', '=', 'signing_organization_answer.organization_id')
        .onRef('signing_organization_request.request_id', '=', 'signing_organization_answer.request_id'),
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
      'answered_at as answeredAt',
    ])
    .where('identity_id', '=', identityId)
    .where(
      sql<boolean>`(answered_at, signing_organization_answer.request_id)
        < (${answeredAt}::timestamptz, ${requestId}::uuid)`,
    )
    .orderBy('answered_at', 'desc')
    .orderBy('signing_organization_answer.request_id', 'desc')
    .limit(count)
    .execute()
}

/**
 * Forgets what identities that are going have signed of requests that wait. What has been signed stays the
 * organization's, under their id alone.
 */
export async function forgetAnswers(tx: Transaction, identityIds: string[]): Promise<void> {
  await sql`
    delete from signing_organization_answer using signing_organization_request request
    where signing_organization_answer.identity_id = any(${identityIds}::uuid[]) and status = 'pending'
      and request.organization_id = signing_organization_answer.organization_id
      and request.request_id = signing_organization_answer.request_id`.execute(tx)
  await tx
    .updateTable('signing_organization_answer')
    .set({ signed_as: null })
    .where('identity_id', 'in', identityIds)
    .execute()
}
