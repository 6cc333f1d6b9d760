import { toBase64 } from '@countersign/protocol/formats/base64'
import { receiptType, type Receipt } from '@countersign/protocol/signing/receipts'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { proveKey } from '#signing/transparency/event.ts'
import { signStatement } from '#signing/transparency/log-key.ts'
import { findAsking, requireReader } from './organization-answer.ts'
import * as organizationAnswerStore from './organization-answer-store.ts'
import { writeOrganizationReceipt } from './organization-receipt.ts'
import { findPlaceOfApp } from './organization-request.ts'
import * as store from './store.ts'

const refuse = refusals({
  access_denied: [403, 'This request belongs to another app.'],
  request_not_found: [404, 'There is no such signing request.'],
  request_not_signed: [409, 'This request has not been signed.'],
  key_not_in_log: [409, 'The log of signing keys does not have this key yet. Try again in a minute.'],
})

/**
 * A receipt for what a person has signed, or an organization that they sign or approve for. Those who did keep it when
 * they are no members any more. Refuses `request_not_found`, `request_not_signed`, `key_not_in_log`, and what
 * `requireReader` does.
 */
export async function issueReceipt(kernel: Kernel, session: Session, requestId: string, now: Date): Promise<string> {
  const place = await store.findPlace(kernel.db, requestId)
  if (place) return write(kernel, await store.findRequestOfUser(kernel.db, session, place.identityId, requestId), now)
  const asking = await findAsking(kernel.db, session, requestId)
  if (!asking) throw refuse.request_not_found()
  if (!(await organizationAnswerStore.hasSigned(kernel.db, session, asking))) await requireReader(kernel, asking, now)
  return writeOrganizationReceipt(kernel, asking, now)
}

/** The same for the app that asked. Refuses `access_denied` beside the others. */
export async function issueReceiptToApp(
  kernel: Kernel,
  clientId: string,
  requestId: string,
  now: Date,
): Promise<string> {
  const place = await store.findPlace(kernel.db, requestId)
  if (!place) return writeOrganizationReceipt(kernel, await findPlaceOfApp(kernel.db, clientId, requestId), now)
  if (place.clientId !== clientId) throw refuse.access_denied()
  return write(kernel, await store.findRequest(kernel.db, place.identityId, requestId), now)
}

/** Signed by the key of the log, with the proof that the log has the person's key. */
async function write(kernel: Kernel, request: store.StoredRequest | undefined, now: Date): Promise<string> {
  if (!request) throw refuse.request_not_found()
  const { requestId, clientId, identityId, signedAs, keyVersion, payload, signature, publicKey, resolvedAt } = request
  if (request.status !== 'signed' || !signature || !resolvedAt) throw refuse.request_not_signed()
  const proved = await proveKey(kernel, { identityId, keyVersion }, now)
  if (!proved) throw refuse.key_not_in_log()

  const { log, key } = proved
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
    key,
    checkpoint: log.checkpoint,
  }
  return signStatement(kernel.keyring, log, receiptType, receipt)
}
