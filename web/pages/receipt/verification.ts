import {
  readOrganizationReceipt,
  readReceipt,
  type ReceiptError,
  type UnprovedProperty,
} from '@countersign/protocol/signing/receipt-reading'
import { callOpen } from '../../lib/api/open-call.ts'
import { runWithWebCrypto } from '../../lib/keys/self-check/web-suite.ts'
import { type ReceiptContent, contentOf } from './content.ts'

/** What a receipt proves of a text; or the first error in it. */
export type Verified = { content: ReceiptContent; entries: number; unproved: UnprovedProperty[] }
export type Verification = Verified | { flaw: ReceiptError }

/**
 * Verifies a receipt for a text in this browser, with the log key that this service publishes. Nothing of both leaves
 * the browser. Throws `ApiError` or `NetworkError` if the key cannot be read.
 */
export async function verifyHere(jws: string, payload: string): Promise<Verification> {
  const { keys, origin } = await callOpen('GET /api/transparency/jwks', {})
  const expected = { payload, keySet: { keys, origin } }
  const ofUser = await runWithWebCrypto((suite) => readReceipt(suite, jws, expected))
  if (!('flaw' in ofUser)) return verifiedOf(ofUser)
  if (ofUser.flaw !== 'malformed_receipt') return ofUser
  const ofOrganization = await runWithWebCrypto((suite) => readOrganizationReceipt(suite, jws, expected))
  return 'flaw' in ofOrganization ? ofOrganization : verifiedOf(ofOrganization)
}

type Read = Exclude<ReturnType<typeof readReceipt> | ReturnType<typeof readOrganizationReceipt>, { flaw: unknown }>

function verifiedOf({ receipt, checkpoint, unproved }: Read): Verified {
  return { content: contentOf(receipt), entries: checkpoint.size, unproved }
}
