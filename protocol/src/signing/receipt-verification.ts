import { createPublicKey, hash, verify } from 'node:crypto'
import type { NoteSuite } from '../formats/signing/checkpoint.ts'
import {
  type OrganizationReceiptVerification,
  type ReceiptExpectation,
  type ReceiptVerification,
  readOrganizationReceipt,
  readReceipt,
} from './receipt-reading.ts'

export { findApprovalError, parseApprovalStatement, type Approval, type ExpectedApproval } from './approvals.ts'
export { wasInForce } from './receipt-keys.ts'
export type {
  LogKeySet,
  ReceiptError,
  ReceiptRequirement,
  UnprovedProperty,
  VerifiedOrganizationReceipt,
  VerifiedReceipt,
} from './receipt-reading.ts'

/** Functions that verify notes, proofs and receipts in Node. An invalid key verifies nothing. */
export const nodeSuite: NoteSuite = {
  sha256: (bytes) => hash('sha256', bytes, 'buffer'),
  verifyEd25519(publicKey, message, signature) {
    const x = Buffer.from(publicKey).toString('base64url')
    return verify(null, message, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }), signature)
  },
}

/** Verifies a receipt in Node, as `readReceipt` does. */
export function verifyReceipt(jws: string, expected: ReceiptExpectation): ReceiptVerification {
  return readReceipt(nodeSuite, jws, expected)
}

/** Verifies the receipt of an organization in Node, as `readOrganizationReceipt` does. */
export function verifyOrganizationReceipt(jws: string, expected: ReceiptExpectation): OrganizationReceiptVerification {
  return readOrganizationReceipt(nodeSuite, jws, expected)
}
