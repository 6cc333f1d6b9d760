/** Verifies a receipt in Node, without a network: all that is needed is the text, and the key of the log. */
import { Value } from 'typebox/value'
import { fromCanonicalBase64, toBase64 } from '../formats/base64.ts'
import { readCheckpoint, type Checkpoint } from '../formats/signing/checkpoint.ts'
import { isSoundPublicKey, isSoundSignature } from '../formats/signing/ed25519.ts'
import type { KeyEvent } from '../formats/signing/key-event.ts'
import { openLoggedKey } from '../formats/signing/logged-key.ts'
import { nodeSuite } from './node-suite.ts'
import { OrganizationReceipt, Receipt, receiptType } from './receipts.ts'

/** The first thing that is wrong with a receipt. */
export type ReceiptFlaw =
  | 'malformed_receipt'
  | 'unknown_service_key'
  | 'invalid_service_signature'
  | 'other_payload'
  | 'invalid_signature'
  | 'too_few_signatures'
  | 'key_not_in_log'

/** What a sound receipt says, and what the log says of the key. */
export type VerifiedReceipt = { receipt: Receipt; checkpoint: Checkpoint; event: KeyEvent }
type ReceiptReading = VerifiedReceipt | { flaw: ReceiptFlaw }

/** Keys of logs as they are published (`/api/transparency/jwks`); where they name their log, it must be that one. */
export type LogKeySet = { keys: readonly unknown[]; origin?: string | undefined }

/** What a sound receipt of an organization says, and what the log says of each key, in the order of the signatures. */
export type VerifiedOrganizationReceipt = { receipt: OrganizationReceipt; checkpoint: Checkpoint; events: KeyEvent[] }
type OrganizationReceiptReading = VerifiedOrganizationReceipt | { flaw: ReceiptFlaw }

type Given = { payload: string; keySet: LogKeySet }

const utf8 = new TextEncoder()

/**
 * Reads a receipt for a text. It is sound where the service has signed it, the person's signature is over exactly these
 * bytes, and the log tells their key as it stands in the receipt.
 */
export function verifyReceipt(jws: string, { payload, keySet }: Given): ReceiptReading {
  const said = readStatement(jws, keySet)
  if ('flaw' in said) return said
  const { statement: receipt } = said
  if (!Value.Check(Receipt, receipt)) return flawed('malformed_receipt')
  const message = utf8.encode(payload)
  if (receipt.payloadSha256 !== toBase64(nodeSuite.sha256(message))) return flawed('other_payload')
  if (!isSigned(receipt, message)) return flawed('invalid_signature')
  const opened = openKey(receipt, receipt.checkpoint, { keySet, logKey: said.logKey })
  return opened ? { receipt, ...opened } : flawed('key_not_in_log')
}

/**
 * Reads the receipt of an organization for a text. It is sound where the service has signed it, it has the signature
 * of a member who signs, and of as many others who approve as it took, all over exactly these bytes, and the log tells
 * their keys. That they were members who might, the service says.
 */
export function verifyOrganizationReceipt(jws: string, { payload, keySet }: Given): OrganizationReceiptReading {
  const said = readStatement(jws, keySet)
  if ('flaw' in said) return said
  const { statement: receipt } = said
  if (!Value.Check(OrganizationReceipt, receipt)) return flawed('malformed_receipt')
  const message = utf8.encode(payload)
  if (receipt.payloadSha256 !== toBase64(nodeSuite.sha256(message))) return flawed('other_payload')
  const { signatures, checkpoint: head } = receipt
  if (!signatures.every((signature) => isSigned(signature, message))) return flawed('invalid_signature')
  if (!isEnough(receipt)) return flawed('too_few_signatures')
  const opened = signatures.flatMap((signature) => openKey(signature, head, { keySet, logKey: said.logKey }) ?? [])
  const [first] = opened
  if (!first || opened.length < signatures.length) return flawed('key_not_in_log')
  return { receipt, checkpoint: first.checkpoint, events: opened.map(({ event }) => event) }
}

/** Whether somebody signs and as many others approve as it took: each another member, identity and key. */
function isEnough({ signatures, approvalsNeeded }: OrganizationReceipt): boolean {
  const approvals = signatures.filter(({ role }) => role === 'approve').length
  const isEachAnother = (['identityId', 'memberId', 'publicKey'] as const).every(
    (name) => new Set(signatures.map((signature) => signature[name])).size === signatures.length,
  )
  return isEachAnother && approvals >= approvalsNeeded && approvals < signatures.length
}

/** What the service has signed under the type of receipts, and by which key of those given. */
function readStatement(
  jws: string,
  keySet: LogKeySet,
): { statement: unknown; logKey: Uint8Array } | { flaw: ReceiptFlaw } {
  const [header = '', body = '', signature = '', ...more] = jws.trim().split('.')
  const { alg, typ, kid, crit } = fieldsOf(parse(header))
  if (more.length > 0 || alg !== 'EdDSA' || typ !== receiptType || crit !== undefined)
    return flawed('malformed_receipt')
  const publicKey = keySet.keys.map(fieldsOf).find((key) => key['kid'] === kid && key['crv'] === 'Ed25519')?.['x']
  if (typeof publicKey !== 'string' || bytesOf(publicKey).length !== 32) return flawed('unknown_service_key')
  const logKey = bytesOf(publicKey)
  if (!nodeSuite.verifyEd25519(logKey, utf8.encode(`${header}.${body}`), bytesOf(signature)))
    return flawed('invalid_service_signature')
  return { statement: parse(body), logKey }
}

type Signed = Pick<Receipt, 'identityId' | 'signature' | 'publicKey' | 'keyVersion' | 'key'>

function isSigned({ signature, publicKey }: Signed, message: Uint8Array): boolean {
  const [bytes, key] = [fromCanonicalBase64(signature), fromCanonicalBase64(publicKey)]
  if (!bytes || !key || !isSoundSignature(bytes) || !isSoundPublicKey(key)) return false
  return nodeSuite.verifyEd25519(key, message, bytes)
}

/** What the log tells of the key with which was signed; undefined where it does not, or tells its end. */
function openKey(
  signed: Signed,
  checkpoint: string,
  { keySet, logKey }: { keySet: LogKeySet; logKey: Uint8Array },
): { checkpoint: Checkpoint; event: KeyEvent } | undefined {
  const { identityId, key, publicKey, keyVersion } = signed
  const name = keySet.origin ?? readCheckpoint(checkpoint)?.origin ?? ''
  const opened = openLoggedKey(nodeSuite, { identityId, checkpoint, ...key }, { name, publicKey: logKey })
  if (!opened || opened.event.event === 'removed') return undefined
  return opened.event.publicKey === publicKey && opened.event.keyVersion === keyVersion ? opened : undefined
}

function flawed(flaw: ReceiptFlaw): { flaw: ReceiptFlaw } {
  return { flaw }
}

/** JSON in base64url; undefined for what is none. */
function parse(encoded: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(encoded)))
  } catch {
    // Neither JSON nor text: the caller says that it is malformed.
    return undefined
  }
}

/** The bytes of unpadded base64url; none for what is not written in it. */
function bytesOf(encoded: string): Uint8Array {
  const bytes = Buffer.from(encoded, 'base64url')
  return bytes.toString('base64url') === encoded ? bytes : new Uint8Array()
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
