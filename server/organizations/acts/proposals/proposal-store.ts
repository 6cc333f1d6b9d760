import { sql } from 'kysely'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

export type ProposalKey = { organizationId: OrganizationId; proposalId: string }

/** What a member has proposed. `sealedRequest` is the request of the endpoint, `details` canonical JSON. */
export type NewProposal = ProposalKey & {
  identityId: IdentityId
  endpoint: string
  sealedRequest: string
  action: string
  details: string
  salt: Uint8Array
  statement: string
  createdAt: Date
  expiresAt: Date
}

export async function insertProposal(tx: Transaction, proposal: NewProposal): Promise<void> {
  await tx
    .insertInto('organization_proposal')
    .values({
      organization_id: proposal.organizationId,
      proposal_id: proposal.proposalId,
      identity_id: proposal.identityId,
      endpoint: proposal.endpoint,
      sealed_request: proposal.sealedRequest,
      action: proposal.action,
      details: proposal.details,
      salt: proposal.salt,
      statement: proposal.statement,
      created_at: proposal.createdAt,
      expires_at: proposal.expiresAt,
    })
    .execute()
}

export async function countProposals(db: Database, organizationId: OrganizationId, now: Date): Promise<number> {
  const { count } = await db
    .selectFrom('organization_proposal')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Lists the proposals of an organization that are open at `now`, oldest first, or one of them. */
export function listProposals(db: Database, organizationId: OrganizationId, now: Date, proposalId?: string) {
  return db
    .selectFrom('organization_proposal')
    .innerJoin('identity', 'identity.identity_id', 'organization_proposal.identity_id')
    .select([
      'organization_id as organizationId',
      'proposal_id as proposalId',
      'organization_proposal.identity_id as identityId',
      'identity.user_id as userId',
      'handle',
      'display_name as displayName',
      'endpoint',
      'sealed_request as sealedRequest',
      'action',
      'details',
      'salt',
      'statement',
      'organization_proposal.created_at as createdAt',
      'expires_at as expiresAt',
    ])
    .where('organization_id', '=', organizationId)
    .where('expires_at', '>', now)
    .$if(proposalId !== undefined, (one) => one.where('proposal_id', '=', proposalId ?? ''))
    .orderBy('organization_proposal.created_at')
    .orderBy('proposal_id')
    .execute()
}
export type StoredProposal = Awaited<ReturnType<typeof listProposals>>[number]

/**
 * Lists the approvals of proposals, oldest first, without those whose key has been replaced since: a stolen key stops
 * counting once its owner has replaced it.
 */
export function listApprovals(db: Database, organizationId: OrganizationId, proposalIds: string[]) {
  return db
    .selectFrom('organization_proposal_approval as approval')
    .innerJoin('identity', 'identity.identity_id', 'approval.identity_id')
    .innerJoin('signing_key', (join) =>
      join
        .onRef('signing_key.identity_id', '=', 'approval.identity_id')
        .onRef('signing_key.key_version', '=', 'approval.key_version')
        .on('replaced_at', 'is', null),
    )
    .select([
      'proposal_id as proposalId',
      'approval.identity_id as identityId',
      'handle',
      'display_name as displayName',
      'statement',
      'presence',
      'signature',
      'approved_at as approvedAt',
    ])
    .where('approval.organization_id', '=', organizationId)
    .where(sql<boolean>`approval.proposal_id = any(${proposalIds}::uuid[])`)
    .orderBy('approved_at')
    .orderBy('approval.identity_id')
    .execute()
}
export type StoredApproval = Awaited<ReturnType<typeof listApprovals>>[number]

export type NewApproval = ProposalKey & {
  identityId: IdentityId
  keyVersion: number
  statement: string
  presence: Uint8Array
  signature: Uint8Array
}

/** Stores an approval in place of an earlier one by the same identity. Returns false if the proposal has ended. */
export async function upsertApproval(tx: Transaction, approval: NewApproval, now: Date): Promise<boolean> {
  const { organizationId, proposalId, identityId, keyVersion, statement, presence, signature } = approval
  const { rows } = await sql<{ proposal_id: string }>`
    insert into organization_proposal_approval (organization_id, proposal_id, identity_id, key_version, statement,
      presence, signature, approved_at)
    select organization_id, proposal_id, ${identityId}::uuid, ${keyVersion}::integer, ${statement}::text,
      ${presence}::bytea, ${signature}::bytea, ${now}::timestamptz
    from organization_proposal
    where organization_id = ${organizationId} and proposal_id = ${proposalId} and expires_at > ${now}
    on conflict (organization_id, proposal_id, identity_id) do update set key_version = excluded.key_version,
      statement = excluded.statement, presence = excluded.presence, signature = excluded.signature,
      approved_at = excluded.approved_at
    returning proposal_id`.execute(tx)
  return rows.length === 1
}

/** Lists the encrypted requests of all proposals. */
export function listSealedRequests(db: Database) {
  return db
    .selectFrom('organization_proposal')
    .select(['organization_id as organizationId', 'proposal_id as proposalId', 'sealed_request as sealedRequest'])
    .execute()
}

/** Replaces the encrypted request of a proposal. */
export async function replaceSealedRequest(
  db: Database,
  { organizationId, proposalId }: ProposalKey,
  sealedRequest: string,
): Promise<void> {
  await db
    .updateTable('organization_proposal')
    .set({ sealed_request: sealedRequest })
    .where('organization_id', '=', organizationId)
    .where('proposal_id', '=', proposalId)
    .execute()
}

/** Deletes a proposal with its approvals. Returns false if it does not exist. */
export async function deleteProposal(tx: Transaction, { organizationId, proposalId }: ProposalKey): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('organization_proposal')
    .where('organization_id', '=', organizationId)
    .where('proposal_id', '=', proposalId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Deletes the approvals that identities have given to open proposals. */
export async function deleteApprovalsOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('organization_proposal_approval').where('identity_id', 'in', identityIds).execute()
}

/** Deletes the proposals of identities that are being deleted, and their approvals. */
export async function deleteProposalsOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await deleteApprovalsOf(tx, identityIds)
  await tx.deleteFrom('organization_proposal').where('identity_id', 'in', identityIds).execute()
}

/** Deletes up to `batch` expired proposals and returns how many. */
export async function deleteExpiredProposals(db: Database, now: Date, batch: number): Promise<number> {
  const { rows } = await sql<{ proposal_id: string }>`
    with expired as (
      select organization_id, proposal_id from organization_proposal where expires_at <= ${now} limit ${batch}
    )
    delete from organization_proposal using expired
    where organization_proposal.organization_id = expired.organization_id
      and organization_proposal.proposal_id = expired.proposal_id
    returning organization_proposal.proposal_id`.execute(db)
  return rows.length
}
