import { randomUUID } from 'node:crypto'
import { fromCanonicalBase64, toBase64, toBase64Url } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import { approvalChallenge, approvalMessage } from '@countersign/protocol/formats/signing/approval'
import { sameBytes } from '@countersign/protocol/formats/signing/bytes'
import { writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import { Check } from 'typebox/schema'
import type { ClientId, IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { ApprovalStatement } from '@countersign/protocol/signing/approvals'
import { ExportedApproval, type GivenApproval } from '@countersign/protocol/signing/signing'
import { lockOwnIdentity } from '#accounts/identities/identity.ts'
import { type Presence, verifyPresence } from '#accounts/passkeys/assertion.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { redirectUriOrigins } from '#clients/registration/settings.ts'
import { addSeconds, maxDate } from '#platform/clock.ts'
import { verifies } from '#platform/crypto/ed25519.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import * as store from './flow-store.ts'

export const errors = defineErrors({
  invalid_flow: [400, 'The approval has expired or was already given. Start again.'],
  invalid_approval: [400, 'approval.signature does not verify over the statement with the key of the request.'],
  approval_changed: [409, 'The request, its app, the username or a signature has changed since the approval started.'],
})

type Surroundings = Pick<ServerContext, 'db' | 'config'>

/** What a person is asked to approve, as the rows of the service describe it. */
export type Approvable = {
  requestId: string
  clientId: ClientId
  appName: string | null
  appRedirectUris: string[] | null
  identityId: IdentityId
  handle: string
  role: ApprovalStatement['role']
  organization: { id: OrganizationId; name: string; memberId: string; approvalsNeeded: number } | null
  payload: string
  publicKey: Uint8Array
  keyVersion: number
  createdAt: Date
  expiresAt: Date
}

/** Statement of a started approval, which the person has signed, and the proof of their presence. */
export type VerifiedApproval = { flow: store.Flow; statement: string; signature: Uint8Array; presence: Presence }

/** Columns of an approval in the row of its signature. */
export type ApprovalColumns = {
  approvalStatement: string | null
  approvalSignature: Uint8Array | null
  approvalPresence: Uint8Array | null
}

/**
 * Starts an approval: it can be given once, within five minutes, in this session. Throws `identity_not_found` if the
 * identity was deleted in the meantime.
 */
export async function beginApproval({ db, config }: Surroundings, session: PasskeySession, of: Approvable, now: Date) {
  const { identityId, requestId, role, createdAt } = of
  const { sessionId } = session
  // The clock of the process that created the request may be ahead of this one.
  const challengedAt = maxDate(now, createdAt)
  const started = { flowId: randomUUID(), challenge: randomBytes(32), challengedAt }
  const statement = toStatement(config, of, started)
  const flow = {
    ...{ identityId, requestId, sessionId, role, ...started },
    presenceChallenge: approvalChallenge(sha256, statement),
    expiresAt: addSeconds(challengedAt, limits.flowLifetimeSeconds),
  }
  await actingTransaction(db, session, async (tx) => {
    await lockOwnIdentity(tx, session, identityId, now)
    await store.insertFlow(tx, flow, limits.signingApprovalFlowsMax)
  })
  return {
    flowId: started.flowId,
    challenge: statement.challenge,
    challengedAt: statement.challengedAt,
    statement: writeCanonicalJson(statement),
  }
}

type Finding = Parameters<typeof store.findFlow>[1]

/** Finds the started approval that is given. Throws `invalid_flow`. */
export async function findApprovalFlow(db: Database, finding: Finding, now: Date): Promise<store.Flow> {
  const flow = finding.identityIds.length === 0 ? undefined : await store.findFlow(db, finding, now)
  if (!flow) throw errors.invalid_flow()
  return flow
}

/**
 * Verifies a given approval: its statement is written again from the rows as they are now, and must be the one that was
 * started; the passkey must have confirmed it, and the key of the identity signed it. Changes nothing. Throws
 * `approval_changed`, `invalid_credential`, `invalid_approval`.
 */
export async function verifyApproval(
  { db, config }: Surroundings,
  session: PasskeySession,
  { flow, of, given }: { flow: store.Flow; of: Approvable; given: GivenApproval },
): Promise<VerifiedApproval> {
  const statement = toStatement(config, of, flow)
  const challenge = approvalChallenge(sha256, statement)
  if (!sameBytes(challenge, flow.presenceChallenge)) throw errors.approval_changed()
  const { credential } = given
  const presence = await verifyPresence({ db, config }, session, { credential, challenge: toBase64Url(challenge) })
  const signature = fromCanonicalBase64(given.signature)
  if (!signature || !verifies(approvalMessage(statement, presence.digest), signature, of.publicKey))
    throw errors.invalid_approval()
  return { flow, statement: writeCanonicalJson(statement), signature, presence }
}

/** Throws `approval_changed` if the rows do not describe what was approved any more. */
export function requireUnchanged(
  config: Surroundings['config'],
  { flow, statement }: VerifiedApproval,
  of: Approvable,
): void {
  if (writeCanonicalJson(toStatement(config, of, flow)) !== statement) throw errors.approval_changed()
}

/** Consumes the started approval in the transaction that records it. Throws `invalid_flow` if it was given before. */
export async function consumeApproval(tx: Transaction, { flow }: VerifiedApproval, now: Date): Promise<void> {
  if (!(await store.consumeFlow(tx, flow, now))) throw errors.invalid_flow()
}

/** Deletes up to `batch` expired ones. Returns their number. */
export function pruneApprovalFlows(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredFlows(db, now, batch)
}

/** Deletes the started approvals of identities that are being deleted. */
export async function deleteApprovalFlows(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await store.deleteFlows(tx, identityIds)
}

/** Returns the columns in which an approval is stored; without one they stay empty. */
export function toApprovalColumns(approved: VerifiedApproval | undefined) {
  if (!approved) return {}
  const { statement, signature, presence } = approved
  return {
    approval_statement: statement,
    approval_signature: signature,
    approval_presence: presence.digest,
    approval_evidence: JSON.stringify(toEvidence(presence)),
  }
}

/** Maps a stored approval to what apps see, or to nothing. */
export function toApproval({ approvalStatement, approvalSignature, approvalPresence }: Partial<ApprovalColumns>) {
  if (!approvalStatement || !approvalSignature || !approvalPresence) return {}
  const approval = {
    statement: approvalStatement,
    signature: toBase64(approvalSignature),
    presence: toBase64(approvalPresence),
  }
  return { approval }
}

/** Adds the evidence for the export of the account. */
export function toExportedApproval(row: ApprovalColumns & { approvalEvidence: string | null }) {
  const { approval } = toApproval(row)
  if (!approval || row.approvalEvidence === null) return {}
  const evidence: unknown = JSON.parse(row.approvalEvidence)
  const exported = { ...approval, evidence }
  return Check(ExportedApproval, exported) ? { approval: exported } : {}
}

function toEvidence({ proved, evidence }: Presence): ExportedApproval['evidence'] {
  return {
    credentialId: proved.credentialId,
    publicKey: toBase64Url(evidence.publicKey),
    authenticatorData: toBase64Url(evidence.authenticatorData),
    clientDataJSON: toBase64Url(evidence.clientDataJson),
    signature: toBase64Url(evidence.signature),
  }
}

function toStatement(
  { authUrl }: Surroundings['config'],
  of: Approvable,
  { challenge, challengedAt }: Pick<store.Flow, 'challenge' | 'challengedAt'>,
): ApprovalStatement {
  const { requestId, clientId, identityId, handle, role, organization, keyVersion } = of
  return {
    version: 2,
    issuer: authUrl.origin,
    requestId,
    app: {
      clientId,
      name: of.appName ?? clientId,
      origins: redirectUriOrigins(of.appRedirectUris ?? []).toSorted(),
    },
    identityId,
    handle,
    role,
    organization,
    payloadSha256: toBase64(sha256(of.payload)),
    publicKey: toBase64(of.publicKey),
    keyVersion,
    challenge: toBase64Url(challenge),
    createdAt: of.createdAt.toISOString(),
    challengedAt: challengedAt.toISOString(),
    expiresAt: of.expiresAt.toISOString(),
  }
}
