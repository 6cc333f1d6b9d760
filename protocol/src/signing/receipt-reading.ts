import { type Checkpoint, type NoteSuite, readCheckpoint } from '../formats/signing/checkpoint.ts'
import { Check } from 'typebox/schema'
import { fromCanonicalBase64Url, toBase64 } from '../formats/base64.ts'
import { parseJsonObject } from '../formats/json.ts'
import { isSignedBy } from '../formats/signing/ed25519.ts'
import type { HistoryKey, MissingKeyProof } from '../formats/signing/key-history.ts'
import { verifyCheckpoint } from '../formats/signing/key-inclusion.ts'
import { type Approval, type ExpectedApproval, findApprovalError, parseApprovalStatement } from './approvals.ts'
import { verifyReceiptKey, type ReceiptKey, type ReceiptKeyError } from './receipt-keys.ts'
import { OrganizationReceipt, Receipt, receiptType } from './receipts.ts'

/**
 * Verifies receipts with the functions of a suite, so that Node and browsers run the same code. It takes only the text
 * and the log key, and sends no request.
 */

/** First error found in a receipt. */
export type ReceiptError =
  | 'malformed_receipt'
  | 'unknown_service_key'
  | 'invalid_service_signature'
  | 'payload_mismatch'
  | 'invalid_signature'
  | 'insufficient_signatures'
  | 'invalid_approval'
  | 'no_approval'
  | ReceiptKeyError

/** What a valid receipt does not prove. Without an approval, it proves that a text was signed, not what for. */
export type UnprovedProperty = MissingKeyProof | 'no_approval'

/** Content of a valid receipt, its key as the log has it, and what it does not prove. */
export type VerifiedReceipt = {
  receipt: Receipt
  checkpoint: Checkpoint
  key: HistoryKey
  unproved: UnprovedProperty[]
}
export type ReceiptVerification = VerifiedReceipt | { flaw: ReceiptError }

/** Log keys as published (`/api/transparency/jwks`); if they name their log, it must match. */
export type LogKeySet = { keys: readonly unknown[]; origin?: string | undefined }

/** Content of a valid receipt of an organization, its keys in the order of signatures, and what it does not prove. */
export type VerifiedOrganizationReceipt = {
  receipt: OrganizationReceipt
  checkpoint: Checkpoint
  keys: HistoryKey[]
  unproved: UnprovedProperty[]
}
export type OrganizationReceiptVerification = VerifiedOrganizationReceipt | { flaw: ReceiptError }

/**
 * What a receipt must prove: `text` (default) that these bytes were signed, `approval` also the request, the app, the
 * role, the time and the use of a passkey. `issuer` is the service's issuer URL without a slash at its end. It is
 * required for `approval`; approvals by another issuer are refused.
 */
export type ReceiptRequirement = { require?: 'text' | 'approval' | undefined; issuer?: string | undefined }
export type ReceiptExpectation = ReceiptRequirement & { payload: string; keySet: LogKeySet }

const utf8 = new TextEncoder()

/**
 * Verifies a receipt for a text. It is valid if the service has signed it, the user's signature is over exactly these
 * bytes, and the log contains the user's key, which was in force then, in a history without error. An approval in it is
 * valid too. Throws a `TypeError` for an unknown requirement.
 */
export function readReceipt(suite: NoteSuite, jws: string, expected: ReceiptExpectation): ReceiptVerification {
  requireKnown(expected)
  const { payload, keySet } = expected
  const said = readStatement(suite, jws, keySet)
  if ('flaw' in said) return said
  const { statement: receipt } = said
  if (!Check(Receipt, receipt)) return flawed('malformed_receipt')
  const message = utf8.encode(payload)
  if (receipt.payloadSha256 !== toBase64(suite.sha256(message))) return flawed('payload_mismatch')
  if (!isSigned(suite, receipt, message)) return flawed('invalid_signature')
  const checkpoint = readHead(suite, receipt.checkpoint, { keySet, logKey: said.logKey })
  if (!checkpoint) return flawed('key_not_in_log')
  const found = verifyReceiptKey(suite, checkpoint, { ...receipt, at: receipt.resolvedAt })
  if (typeof found === 'string') return flawed(found)
  const approvals = verifyApprovals(suite, [{ ...receipt, at: receipt.resolvedAt }], { ...expected, receipt })
  if ('flaw' in approvals) return approvals
  const { unproved, ...key } = found
  return { receipt, checkpoint, key, unproved: [...approvals.unproved, ...unproved] }
}

/**
 * Verifies the receipt of an organization for a text. It is valid if the service has signed it, it has the signature of
 * one signer and of the required number of approvers, all over exactly these bytes, and the log contains their keys.
 * Their permissions are stated by the service alone.
 */
export function readOrganizationReceipt(
  suite: NoteSuite,
  jws: string,
  expected: ReceiptExpectation,
): OrganizationReceiptVerification {
  requireKnown(expected)
  const { payload, keySet } = expected
  const said = readStatement(suite, jws, keySet)
  if ('flaw' in said) return said
  const { statement: receipt } = said
  if (!Check(OrganizationReceipt, receipt)) return flawed('malformed_receipt')
  const message = utf8.encode(payload)
  if (receipt.payloadSha256 !== toBase64(suite.sha256(message))) return flawed('payload_mismatch')
  const { signatures, checkpoint: head } = receipt
  if (!signatures.every((signature) => isSigned(suite, signature, message))) return flawed('invalid_signature')
  if (!isEnough(receipt)) return flawed('insufficient_signatures')
  const checkpoint = readHead(suite, head, { keySet, logKey: said.logKey })
  if (!checkpoint) return flawed('key_not_in_log')
  const keys: ReceiptKey[] = []
  for (const signature of signatures) {
    const found = verifyReceiptKey(suite, checkpoint, signature)
    if (typeof found === 'string') return flawed(found)
    keys.push(found)
  }
  const approvals = verifyApprovals(suite, signatures, { ...expected, receipt })
  if ('flaw' in approvals) return approvals
  const unproved = [...new Set([...approvals.unproved, ...keys.flatMap((key) => key.unproved)])]
  return { receipt, checkpoint, keys: keys.map(({ unproved: _unproved, ...key }) => key), unproved }
}

function requireKnown({ require = 'text', issuer }: ReceiptRequirement): void {
  if (require !== 'text' && require !== 'approval') throw new TypeError("require must be 'text' or 'approval'.")
  if (require === 'approval' && issuer === undefined) throw new TypeError('An approval is verified for an issuer.')
}

type Approved = Pick<Receipt, 'identityId' | 'publicKey' | 'keyVersion'> & {
  /** Time of the signature. */
  at: string
  approval?: Approval
  handle?: string
  memberId?: string
  role?: 'sign' | 'approve'
}
type ApprovalExpectation = ReceiptExpectation & { receipt: Receipt | OrganizationReceipt }

/** Verifies the approvals of all signatures. Those that a receipt contains must be valid even if none is required. */
function verifyApprovals(
  suite: NoteSuite,
  signatures: Approved[],
  { require, issuer, payload, receipt }: ApprovalExpectation,
): { unproved: 'no_approval'[] } | { flaw: ReceiptError } {
  for (const { approval, handle, memberId, role = 'self', at, ...key } of signatures) {
    if (!approval) continue
    const expected: ExpectedApproval = {
      ...{ requestId: receipt.requestId, clientId: receipt.clientId, handle, role, payload },
      ...{ identityId: key.identityId, publicKey: key.publicKey, keyVersion: key.keyVersion },
      ...{ createdAt: receipt.createdAt, answeredAt: at },
      issuer: issuer ?? parseApprovalStatement(approval.statement)?.issuer ?? '',
      ...('organization' in receipt && {
        organization: { ...receipt.organization, approvalsNeeded: receipt.approvalsNeeded, memberId },
      }),
      requiresPresence: require === 'approval',
    }
    if (findApprovalError(suite, approval, expected)) return flawed('invalid_approval')
  }
  const isApproved = signatures.every(({ approval }) => approval !== undefined)
  if (!isApproved && require === 'approval') return flawed('no_approval')
  return { unproved: isApproved ? [] : ['no_approval'] }
}

/** Checks that one member signed and enough others approved: each a different member, identity and key. */
function isEnough({ signatures, approvalsNeeded }: OrganizationReceipt): boolean {
  const approvals = signatures.filter(({ role }) => role === 'approve').length
  const isEachAnother = (['identityId', 'memberId', 'publicKey'] as const).every(
    (name) => new Set(signatures.map((signature) => signature[name])).size === signatures.length,
  )
  return isEachAnother && approvals >= approvalsNeeded && approvals < signatures.length
}

/** Returns the statement that the service has signed with the receipt type, and which of the given keys signed it. */
function readStatement(
  suite: NoteSuite,
  jws: string,
  keySet: LogKeySet,
): { statement: unknown; logKey: Uint8Array } | { flaw: ReceiptError } {
  const [header = '', body = '', signature = '', ...more] = jws.trim().split('.')
  const { alg, typ, kid, crit } = fieldsOf(parseJsonObject(header))
  if (more.length > 0 || alg !== 'EdDSA' || typ !== receiptType || crit !== undefined)
    return flawed('malformed_receipt')
  const publicKey = keySet.keys.map(fieldsOf).find((key) => key['kid'] === kid && key['crv'] === 'Ed25519')?.['x']
  if (typeof publicKey !== 'string' || bytesOf(publicKey).length !== 32) return flawed('unknown_service_key')
  const logKey = bytesOf(publicKey)
  if (!suite.verifyEd25519(logKey, utf8.encode(`${header}.${body}`), bytesOf(signature)))
    return flawed('invalid_service_signature')
  return { statement: parseJsonObject(body, Infinity), logKey }
}

type Signed = Pick<Receipt, 'signature' | 'publicKey'>

function isSigned(suite: NoteSuite, signed: Signed, message: Uint8Array): boolean {
  return isSignedBy(suite.verifyEd25519, signed, message)
}

/** Returns the tree head of a checkpoint that the log key has signed, for the log that the key set names. */
function readHead(
  suite: NoteSuite,
  note: string,
  { keySet, logKey }: { keySet: LogKeySet; logKey: Uint8Array },
): Checkpoint | undefined {
  const name = keySet.origin ?? readCheckpoint(note)?.origin ?? ''
  return verifyCheckpoint(suite, note, { name, publicKey: logKey })
}

function flawed(flaw: ReceiptError): { flaw: ReceiptError } {
  return { flaw }
}

/** Decodes unpadded base64url; returns no bytes for any other text. */
function bytesOf(encoded: string): Uint8Array {
  return fromCanonicalBase64Url(encoded) ?? new Uint8Array()
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
