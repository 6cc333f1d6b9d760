import { toBase64 } from '@countersign/protocol/formats/base64'
import { parseKeyEvent } from '@countersign/protocol/formats/signing/key-event'
import type { ClientId } from '@countersign/protocol/ids'
import { type OrganizationReceipt, type Receipt, receiptType } from '@countersign/protocol/signing/receipts'
import type { LoggedKeyEvent } from '@countersign/protocol/signing/transparency'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { listKeyHistories } from '#signing/transparency/event.ts'
import { signStatement } from '#signing/transparency/log.ts'
import * as organizationAnswerStore from '#signing/requests/organizations/organization-answer-store.ts'
import type { OrganizationRequestKey } from '#signing/requests/organizations/organization-answer-store.ts'
import { findRequestRouteOfApp, loadRequestWithExpiry } from '#signing/requests/organizations/organization-request.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { findOrganizationRequest, requireReader } from '#signing/requests/organizations/member-view.ts'
import { toApproval } from '#signing/requests/approvals/approval.ts'
import * as store from '#signing/requests/identities/store.ts'

const errors = defineErrors({
  request_not_signed: [409, 'The signing request has not been signed.'],
  key_not_in_log: [409, 'The signing key is not in the transparency log yet. Retry in a minute.'],
  access_denied: [403, 'The signing request belongs to another app.'],
  request_not_found: [404, 'Signing request not found.'],
})

/**
 * Builds a receipt for a request that an organization has signed: all signatures, and the histories of
 * their keys in the log, signed with the log key. Throws `request_not_found`, `request_not_signed`, `key_not_in_log`.
 */
async function writeOrganizationReceipt(
  kernel: ServerContext,
  place: OrganizationRequestKey,
  now: Date,
): Promise<string> {
  const request = await loadRequestWithExpiry(kernel.db, place, now)
  const { requestId, clientId, organizationId, organizationName, approvalsNeeded, payload, resolvedAt } = request
  if (request.status !== 'signed' || !resolvedAt) throw errors.request_not_signed()
  const answers = await organizationAnswerStore.listMemberSignatures(kernel.db, place)
  const identityIds = answers.map(({ identityId }) => identityId)
  const { log, histories } = await listKeyHistories(kernel, identityIds, now)
  const signatures: OrganizationReceipt['signatures'] = []
  for (const [index, answer] of answers.entries()) {
    const { identityId, memberId, signedAs, role, keyVersion, admittedAt } = answer
    const history = requireLogged(histories[index], keyVersion)
    signatures.push({
      identityId,
      memberId,
      ...(signedAs !== null && { handle: signedAs }),
      role,
      signature: toBase64(answer.signature),
      publicKey: toBase64(answer.publicKey),
      keyVersion,
      at: answer.answeredAt.toISOString(),
      ...(admittedAt && { admittedAt: admittedAt.toISOString() }),
      ...toApproval(answer),
      history,
    })
  }
  const receipt: OrganizationReceipt = {
    version: 2,
    requestId,
    clientId,
    organization: { id: organizationId, name: organizationName },
    council: { resetAt: request.councilResetAt?.toISOString() ?? null },
    approvalsNeeded,
    payloadSha256: toBase64(sha256(payload)),
    signatures,
    createdAt: request.createdAt.toISOString(),
    resolvedAt: resolvedAt.toISOString(),
    issuedAt: now.toISOString(),
    checkpoint: log.checkpoint,
  }
  return signStatement(kernel.keyring, log, receiptType, receipt)
}

/**
 * Issues a receipt for a request that a user signed, or that an organization signed with this user. Signers keep access
 * after they have left the organization. Throws `request_not_found`, `request_not_signed`, `key_not_in_log`, and the
 * errors of `requireReader`.
 */
export async function issueReceipt(
  kernel: ServerContext,
  session: PasskeySession,
  requestId: string,
  now: Date,
): Promise<string> {
  const place = await store.findRequestRoute(kernel.db, requestId)
  if (place)
    return write(kernel, await store.findRequestOfUser(kernel.db, session.userId, place.identityId, requestId), now)
  const asking = await findOrganizationRequest(kernel.db, session, requestId)
  if (!asking) throw errors.request_not_found()
  if (!(await organizationAnswerStore.hasSigned(kernel.db, session.userId, asking)))
    await requireReader(kernel, asking, now)
  return writeOrganizationReceipt(kernel, asking, now)
}

/** Issues the receipt to the requesting app. Also throws `access_denied`. */
export async function issueReceiptToApp(
  kernel: ServerContext,
  clientId: ClientId,
  requestId: string,
  now: Date,
): Promise<string> {
  const place = await store.findRequestRoute(kernel.db, requestId)
  if (!place) return writeOrganizationReceipt(kernel, await findRequestRouteOfApp(kernel.db, clientId, requestId), now)
  if (place.clientId !== clientId) throw errors.access_denied()
  return write(kernel, await store.findRequest(kernel.db, place.identityId, requestId), now)
}

/** Returns a history that contains this version. Throws `key_not_in_log`. */
function requireLogged(history: LoggedKeyEvent[] = [], keyVersion: number): LoggedKeyEvent[] {
  if (!history.some(({ leaf }) => parseKeyEvent(leaf)?.keyVersion === keyVersion)) throw errors.key_not_in_log()
  return history
}

/** Builds a receipt signed with the log key, with the history of the user's keys in the log. */
async function write(kernel: ServerContext, request: store.StoredRequest | undefined, now: Date): Promise<string> {
  if (!request) throw errors.request_not_found()
  const { requestId, clientId, identityId, signedAs, keyVersion, payload, signature, publicKey, resolvedAt } = request
  if (request.status !== 'signed' || !signature || !resolvedAt) throw errors.request_not_signed()
  const { log, histories } = await listKeyHistories(kernel, [identityId], now)
  const history = requireLogged(histories[0], keyVersion)
  const receipt: Receipt = {
    version: 1,
    requestId,
    clientId,
    identityId,
    ...(signedAs !== null && { handle: signedAs }),
    payloadSha256: toBase64(sha256(payload)),
    signature: toBase64(signature),
    publicKey: toBase64(publicKey),
    keyVersion,
    createdAt: request.createdAt.toISOString(),
    resolvedAt: resolvedAt.toISOString(),
    issuedAt: now.toISOString(),
    ...toApproval(request),
    history,
    checkpoint: log.checkpoint,
  }
  return signStatement(kernel.keyring, log, receiptType, receipt)
}
