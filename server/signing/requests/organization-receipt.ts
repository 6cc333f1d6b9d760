import { toBase64 } from '@countersign/protocol/formats/base64'
import { receiptType, type OrganizationReceipt } from '@countersign/protocol/signing/receipts'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { proveKeys } from '#signing/transparency/event.ts'
import { signStatement } from '#signing/transparency/log-key.ts'
import * as organizationAnswerStore from './organization-answer-store.ts'
import type { Place } from './organization-answer-store.ts'
import { settled } from './organization-request.ts'

const refuse = refusals({
  request_not_signed: [409, 'This request has not been signed.'],
  key_not_in_log: [409, 'The log of signing keys does not have this key yet. Try again in a minute.'],
})

/**
 * A receipt for what an organization has signed: everybody who did, and that the log tells their keys, signed by the
 * key of the log. Refuses `request_not_found`, `request_not_signed`, `key_not_in_log`.
 */
export async function writeOrganizationReceipt(kernel: Kernel, place: Place, now: Date): Promise<string> {
  const request = await settled(kernel.db, place, now)
  const { requestId, clientId, organizationId, organizationName, approvalsNeeded, payload, resolvedAt } = request
  if (request.status !== 'signed' || !resolvedAt) throw refuse.request_not_signed()
  const answers = await organizationAnswerStore.listAnswers(kernel.db, place)
  const { log, keys } = await proveKeys(kernel, answers, now)
  const signatures: OrganizationReceipt['signatures'] = []
  for (const [index, answer] of answers.entries()) {
    const key = keys[index]
    if (!key) throw refuse.key_not_in_log()
    const { identityId, memberId, signedAs, role, keyVersion } = answer
    signatures.push({
      identityId,
      memberId,
      ...(signedAs !== null && { handle: signedAs }),
      role,
      signature: toBase64(answer.signature),
      publicKey: toBase64(answer.publicKey),
      keyVersion,
      at: answer.answeredAt.toISOString(),
      key,
    })
  }
  const receipt: OrganizationReceipt = {
    version: 2,
    requestId,
    clientId,
    organization: { id: organizationId, name: organizationName },
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
