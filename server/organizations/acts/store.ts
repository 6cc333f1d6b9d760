import { sql } from 'kysely'
import type { IdentityId, OrganizationId, SessionId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

/** Finds the current signing key of an identity. */
export function findSigningKey(db: Database, identityId: IdentityId) {
  return db
    .selectFrom('signing_key')
    .select(['public_key as publicKey', 'key_version as keyVersion', 'created_at as createdAt'])
    .where('identity_id', '=', identityId)
    .where('replaced_at', 'is', null)
    .executeTakeFirst()
}
export type SigningKey = NonNullable<Awaited<ReturnType<typeof findSigningKey>>>

/** Organization, session and ID of an act. */
export type ActKey = { organizationId: OrganizationId; actId: string; sessionId: SessionId }

export type ActRow = ActKey & {
  identityId: IdentityId
  /** Name of the endpoint that started it. */
  endpoint: string
  sealedRequest: string
  action: string
  /** Canonical JSON. */
  details: string
  salt: Uint8Array
  /** Canonical JSON. */
  statement: string
  createdAt: Date
  expiresAt: Date
  /** Proposal that it approves or carries out, and approvals that it needs of others. */
  proposalId: string | null
  approvalsNeeded: number
}

/**
 * Stores an act and deletes the oldest ones of the same session, so that `max` remain. The caller holds the lock of the
 * session, so concurrent starts run one after the other.
 */
export async function insertAct(tx: Transaction, act: ActRow, max: number): Promise<void> {
  const { sessionId } = act
  await sql`
    delete from organization_act where (organization_id, act_id) in (
      select organization_id, act_id from organization_act where session_id = ${sessionId}
      order by created_at desc, act_id desc offset ${max - 1}
    )`.execute(tx)
  await tx
    .insertInto('organization_act')
    .values({
      organization_id: act.organizationId,
      act_id: act.actId,
      session_id: sessionId,
      identity_id: act.identityId,
      endpoint: act.endpoint,
      sealed_request: act.sealedRequest,
      action: act.action,
      details: act.details,
      salt: act.salt,
      statement: act.statement,
      created_at: act.createdAt,
      expires_at: act.expiresAt,
      proposal_id: act.proposalId,
      approvals_needed: act.approvalsNeeded,
    })
    .execute()
}

/** Finds an act of a session that has not expired. */
export function findAct(
  db: Database,
  { organizationId, actId, sessionId }: ActKey,
  now: Date,
): Promise<ActRow | undefined> {
  return db
    .selectFrom('organization_act')
    .select([
      'organization_id as organizationId',
      'act_id as actId',
      'session_id as sessionId',
      'identity_id as identityId',
      'endpoint',
      'sealed_request as sealedRequest',
      'action',
      'details',
      'salt',
      'statement',
      'created_at as createdAt',
      'expires_at as expiresAt',
      'proposal_id as proposalId',
      'approvals_needed as approvalsNeeded',
    ])
    .where('organization_id', '=', organizationId)
    .where('act_id', '=', actId)
    .where('session_id', '=', sessionId)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Deletes an act, so that it is done once. Returns false if it was done or declined before, or has expired. */
export async function consumeAct(
  db: Database,
  { organizationId, actId, sessionId }: ActKey,
  now: Date,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('organization_act')
    .where('organization_id', '=', organizationId)
    .where('act_id', '=', actId)
    .where('session_id', '=', sessionId)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export async function deleteActsOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('organization_act').where('identity_id', 'in', identityIds).execute()
}

export async function deleteExpiredActs(db: Database, now: Date, batch: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from organization_act where (organization_id, act_id) in (
      select organization_id, act_id from organization_act where expires_at <= ${now} order by expires_at limit ${batch}
    )`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
