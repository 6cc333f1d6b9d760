import { sql } from 'kysely'
import type { IdentityId, SessionId } from '@countersign/protocol/ids'
import type { ApprovalStatement } from '@countersign/protocol/signing/approvals'
import type { Database, Transaction } from '#platform/database/database.ts'

/** Request and role that an approval is started for, by the identity that gives it, in one session. */
export type FlowKey = {
  identityId: IdentityId
  requestId: string
  sessionId: SessionId
  role: ApprovalStatement['role']
}

type NewFlow = FlowKey & {
  flowId: string
  challenge: Uint8Array
  presenceChallenge: Uint8Array
  challengedAt: Date
  expiresAt: Date
}

/**
 * Stores a started approval and deletes the oldest ones of the same request, so that `max` remain. The caller holds the
 * lock of the identity, so concurrent starts run one after the other.
 */
export async function insertFlow(tx: Transaction, flow: NewFlow, max: number): Promise<void> {
  const { identityId, requestId } = flow
  await sql`
    delete from signing_approval_flow where identity_id = ${identityId} and flow_id in (
      select flow_id from signing_approval_flow where identity_id = ${identityId} and request_id = ${requestId}
      order by challenged_at desc, flow_id offset ${max - 1}
    )`.execute(tx)
  await tx
    .insertInto('signing_approval_flow')
    .values({
      identity_id: identityId,
      flow_id: flow.flowId,
      request_id: requestId,
      session_id: flow.sessionId,
      role: flow.role,
      challenge: flow.challenge,
      presence_challenge: flow.presenceChallenge,
      challenged_at: flow.challengedAt,
      expires_at: flow.expiresAt,
    })
    .execute()
}

type Finding = Omit<FlowKey, 'identityId'> & { flowId: string; identityIds: IdentityId[] }

/** Finds a started approval of one of these identities that has not expired. */
export function findFlow(
  db: Database,
  { flowId, identityIds, requestId, sessionId, role }: Finding,
  now: Date,
): Promise<Flow | undefined> {
  return db
    .selectFrom('signing_approval_flow')
    .select([
      'identity_id as identityId',
      'flow_id as flowId',
      'challenge',
      'presence_challenge as presenceChallenge',
      'challenged_at as challengedAt',
    ])
    .where('identity_id', 'in', identityIds)
    .where('flow_id', '=', flowId)
    .where('request_id', '=', requestId)
    .where('session_id', '=', sessionId)
    .where('role', '=', role)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}
export type Flow = Pick<NewFlow, 'identityId' | 'flowId' | 'challenge' | 'presenceChallenge' | 'challengedAt'>

/** Deletes a started approval, so that it is given once. Returns false if it was given before, or has expired. */
export async function consumeFlow(
  tx: Transaction,
  { identityId, flowId }: Pick<Flow, 'identityId' | 'flowId'>,
  now: Date,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('signing_approval_flow')
    .where('identity_id', '=', identityId)
    .where('flow_id', '=', flowId)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Deletes up to `batch` expired ones. */
export async function deleteExpiredFlows(db: Database, now: Date, batch: number): Promise<number> {
  const { rows } = await sql<{ flow_id: string }>`
    with expired as (
      select identity_id, flow_id from signing_approval_flow where expires_at <= ${now} limit ${batch}
    )
    delete from signing_approval_flow using expired
    where signing_approval_flow.identity_id = expired.identity_id and signing_approval_flow.flow_id = expired.flow_id
      and signing_approval_flow.expires_at <= ${now}
    returning signing_approval_flow.flow_id`.execute(db)
  return rows.length
}

export async function deleteFlows(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('signing_approval_flow').where('identity_id', 'in', identityIds).execute()
}
