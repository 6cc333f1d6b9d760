import { verifyReceipt as read, type ReceiptFlaw } from '@countersign/protocol/receipt-verification'
import { CountersignError } from './error.ts'

export type KeptReceipt = {
  /** The receipt, as the service gave it. */
  receipt: string
  /** The text that was signed. */
  payload: string
  /** The keys of the log, as you have kept them: what `{baseUrl}/api/transparency/jwks` answers. */
  logKeys: { keys: readonly unknown[]; origin?: string | undefined }
}

/** Who signed, for whom, when and with which key. */
export type SignedReceipt = {
  requestId: string
  clientId: string
  identityId: string
  handle: string | undefined
  payload: string
  signature: string
  publicKey: string
  keyVersion: number
  createdAt: string
  resolvedAt: string
}

const sentences: Record<ReceiptFlaw, string> = {
  malformed_receipt: 'This is no receipt.',
  unknown_service_key: 'It is signed by a key that is not among those given.',
  invalid_service_signature: 'The service has not signed it, or it was altered since.',
  other_payload: 'It is for another text.',
  invalid_signature: 'The person has not signed this text.',
  key_not_in_log: 'The log of signing keys does not tell the key of the person as the receipt has it.',
}

/**
 * What a receipt says, where all of it holds together: the service has signed it, the person has signed this text, and
 * the log of signing keys tells their key. Asks nobody. Throws CountersignError with what is wrong otherwise.
 */
export function verifyReceipt({ receipt, payload, logKeys }: KeptReceipt): SignedReceipt {
  // Half a character has no bytes: texts that differ in such halves alone would be one.
  if (!payload.isWellFormed()) throw refusal('other_payload')
  const reading = read(receipt, { payload, keySet: logKeys })
  if ('flaw' in reading) throw refusal(reading.flaw)
  const { requestId, clientId, identityId, handle, signature } = reading.receipt
  const { publicKey, keyVersion, createdAt, resolvedAt } = reading.receipt
  return { requestId, clientId, identityId, handle, payload, signature, publicKey, keyVersion, createdAt, resolvedAt }
}

function refusal(code: ReceiptFlaw): CountersignError {
  return new CountersignError({ code, description: sentences[code] })
}
