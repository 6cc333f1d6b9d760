import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { GivenApproval, SigningStatus } from '@countersign/protocol/signing/signing'
import { presenceTransaction } from '#accounts/passkeys/assertion.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import {
  type PasskeySession,
  type Session,
  type SessionSubject,
  requireRecentAuthentication,
} from '#accounts/sessions/session.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { verifies } from '#platform/crypto/ed25519.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { bindSignature, recordApprovedSignature } from '#signing/requests/apps/signature-use.ts'
import {
  type Approvable,
  type VerifiedApproval,
  beginApproval,
  consumeApproval,
  findApprovalFlow,
  requireUnchanged,
  toApprovalColumns,
  verifyApproval,
} from '#signing/requests/approvals/approval.ts'
import { enqueueSigningWebhooks, findOwn, loadRequestWithExpiry } from './request.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_request: [400, "The role for a request to an identity is 'self'."],
  invalid_signature: [400, "signature does not verify over the payload with the request's public key."],
  app_disabled: [409, 'The requesting app has been disabled. The request can only be denied.'],
  request_not_pending: [409, 'The signing request has already been resolved or has expired.'],
})

type Surroundings = Pick<ServerContext, 'db' | 'config'>

/**
 * Starts the approval of a request to one of the user's identities. Throws `invalid_request`, `request_not_found`,
 * `request_not_pending`, `app_disabled`.
 */
export async function startApproval(
  surroundings: Surroundings,
  session: PasskeySession,
  { requestId, role }: { requestId: string; role: Approvable['role'] },
  now: Date,
) {
  const request = await requirePending(surroundings.db, session, requestId, now)
  if (role !== 'self') throw errors.invalid_request()
  if (request.appStatus !== 'active') throw errors.app_disabled()
  return beginApproval(surroundings, session, toApprovable(request), now)
}

function toApprovable(request: store.RequestOfUser): Approvable {
  return { ...request, role: 'self', organization: null }
}

type Given = { requestId: string; signature: string; approval?: GivenApproval | undefined }

/**
 * Records a signature, with an approval or without. Without one, a recent authentication is required, because earlier
 * signatures are readable with the session alone. Throws `request_not_found`, `request_not_pending`, `app_disabled`,
 * `reauthentication_required`, `invalid_signature`, `signature_reused`; with an approval `invalid_flow`,
 * `approval_changed`, `invalid_credential`, `invalid_approval`, `rate_limited`.
 */
export async function signRequest(
  surroundings: Surroundings & Pick<ServerContext, 'rateLimits'>,
  session: PasskeySession,
  { requestId, signature: written, approval }: Given,
  now: Date,
) {
  const request = await requirePending(surroundings.db, session, requestId, now)
  if (request.appStatus !== 'active') throw errors.app_disabled()
  if (!approval) requireRecentAuthentication(session, now)
  const signature = fromCanonicalBase64(written)
  if (!signature || !verifies(Buffer.from(request.payload, 'utf8'), signature, request.publicKey))
    throw errors.invalid_signature()
  const approved = approval && (await verify(surroundings, { session, request, given: approval }, now))
  const recording = { signature, approved }
  const resolved = await (approved
    ? presenceTransaction(surroundings, { session, ...approved }, now, (tx) =>
        sign({ ...surroundings, tx }, request, recording, now),
      )
    : actingTransaction(surroundings.db, session, (tx) => sign({ ...surroundings, tx }, request, recording, now)))
  if (!resolved) throw await endedSince(surroundings.db, request, now)
  return {
    requestId,
    status: 'signed' as const,
    signature: written,
    publicKey: toBase64(request.publicKey),
    resolvedAt: now.toISOString(),
  }
}

type Verifying = { session: PasskeySession; request: store.RequestOfUser; given: GivenApproval }

async function verify(surroundings: Surroundings, { session, request, given }: Verifying, now: Date) {
  const { identityId, requestId } = request
  const { sessionId } = session
  const role: Approvable['role'] = 'self'
  const finding = { flowId: given.flowId, identityIds: [identityId], requestId, sessionId, role }
  const flow = await findApprovalFlow(surroundings.db, finding, now)
  return verifyApproval(surroundings, session, { flow, of: toApprovable(request), given })
}

type Recording = { signature: Uint8Array; approved: VerifiedApproval | undefined }

async function sign(
  { tx, config }: Pick<ServerContext, 'config'> & { tx: Transaction },
  request: store.RequestOfUser,
  { signature, approved }: Recording,
  now: Date,
): Promise<true | undefined> {
  const { identityId, clientId } = request
  const resolution = { status: 'signed', signature, ...toApprovalColumns(approved) } as const
  const ended = await store.resolveRequest(tx, request, resolution, now)
  if (!ended) return undefined
  const use = { identityId, clientId, role: 'self' } as const
  await Promise.all([
    recordEnd(tx, request, ended, now),
    approved && requireSame(tx, config, request, approved),
    approved ? recordApprovedSignature(tx, signature, use) : bindSignature(tx, signature, use),
  ])
  if (approved) await consumeApproval(tx, approved, now)
  return true
}

/** Compares again: the app may have changed between the verification and this transaction. */
async function requireSame(
  tx: Transaction,
  config: Surroundings['config'],
  { userId, identityId, requestId }: store.RequestOfUser,
  approved: VerifiedApproval,
): Promise<void> {
  const request = await store.findRequestOfUser(tx, userId, identityId, requestId)
  if (request?.appStatus !== 'active') throw errors.app_disabled()
  requireUnchanged(config, approved, toApprovable(request))
}

/** Records that a user denies a request. Throws `request_not_found`, `request_not_pending`. */
export async function denyRequest(db: Database, acting: Session, requestId: string, now: Date) {
  const request = await requirePending(db, acting, requestId, now)
  const denied = await actingTransaction(db, acting, async (tx) => {
    const ended = await store.resolveRequest(tx, request, { status: 'denied' }, now)
    if (ended) await recordEnd(tx, request, ended, now)
    return ended
  })
  if (!denied) throw await endedSince(db, request, now)
  return { requestId, status: 'denied' as const, resolvedAt: now.toISOString() }
}

async function requirePending(db: Database, acting: SessionSubject, requestId: string, now: Date) {
  const request = await loadRequestWithExpiry(db, await findOwn(db, acting, requestId), now)
  if (request.status !== 'pending') throw notPending(request.status)
  return request
}

/** Records that a request was answered, and notifies its app. */
async function recordEnd(
  tx: Transaction,
  { userId, identityId, requestId, clientId }: store.RequestOfUser,
  ended: store.Ended,
  now: Date,
): Promise<void> {
  const action = ended.status === 'signed' ? 'signing.signed' : 'signing.denied'
  await recordAuditEvent(tx, { action, actor: 'user', userId, identityId, clientId, details: { requestId } }, now)
  await enqueueSigningWebhooks(tx, [ended], now)
}

async function endedSince(db: Database, { identityId, requestId }: store.RequestOfUser, now: Date) {
  const { status } = await loadRequestWithExpiry(db, await store.findRequest(db, identityId, requestId), now)
  return notPending(status)
}

function notPending(status: SigningStatus) {
  return errors.request_not_pending({ fields: { status } })
}
