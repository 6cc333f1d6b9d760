/** Verifies a receipt in Node, without a network: all that is needed is the text, and the key of the log. */
import { Value } from 'typebox/value'
import { fromCanonicalBase64, toBase64 } from './formats/base64.ts'
import { readCheckpoint, type Checkpoint } from './formats/checkpoint.ts'
import { isSoundPublicKey, isSoundSignature } from './formats/ed25519.ts'
import type { KeyEvent } from './formats/key-event.ts'
import { openLoggedKey } from './formats/logged-key.ts'
import { nodeSuite } from './node-suite.ts'
import { Receipt, receiptType } from './receipts.ts'

/** The first thing that is wrong with a receipt. */
export type ReceiptFlaw =
  | 'malformed_receipt'
  | 'unknown_service_key'
  | 'invalid_service_signature'
  | 'other_payload'
  | 'invalid_signature'
  | 'key_not_in_log'

/** What a sound receipt says, and what the log says of the key. */
export type VerifiedReceipt = { receipt: Receipt; checkpoint: Checkpoint; event: KeyEvent }
type ReceiptReading = VerifiedReceipt | { flaw: ReceiptFlaw }

/** Keys of logs as they are published (`/api/transparency/jwks`); where they name their log, it must be that one. */
export type LogKeySet = { keys: readonly unknown[]; origin?: string | undefined }

const utf8 = new TextEncoder()

/**
 * Reads a receipt for a text. It is sound where the service has signed it, the person's signature is over exactly these
 * bytes, and the log tells their key as it stands in the receipt.
 */
export function verifyReceipt(
  jws: string,
  { payload, keySet }: { payload: string; keySet: LogKeySet },
): ReceiptReading {
  const [header = '', body = '', signature = '', ...more] = jws.trim().split('.')
  const { alg, typ, kid, crit } = fieldsOf(parse(header))
  if (more.length > 0 || alg !== 'EdDSA' || typ !== receiptType || crit !== undefined)
    return flawed('malformed_receipt')
  const publicKey = keySet.keys.map(fieldsOf).find((key) => key['kid'] === kid && key['crv'] === 'Ed25519')?.['x']
  if (typeof publicKey !== 'string' || bytesOf(publicKey).length !== 32) return flawed('unknown_service_key')
  const logKey = bytesOf(publicKey)
  if (!nodeSuite.verifyEd25519(logKey, utf8.encode(`${header}.${body}`), bytesOf(signature)))
    return flawed('invalid_service_signature')

  const receipt = parse(body)
  if (!Value.Check(Receipt, receipt)) return flawed('malformed_receipt')
  const message = utf8.encode(payload)
  if (receipt.payloadSha256 !== toBase64(nodeSuite.sha256(message))) return flawed('other_payload')
  if (!isSigned(receipt, message)) return flawed('invalid_signature')
  const { identityId, checkpoint, key } = receipt
  const name = keySet.origin ?? readCheckpoint(checkpoint)?.origin ?? ''
  const opened = openLoggedKey(nodeSuite, { identityId, checkpoint, ...key }, { name, publicKey: logKey })
  if (!opened || !isOf(opened.event, receipt)) return flawed('key_not_in_log')
  return { receipt, ...opened }
}

function isSigned({ signature, publicKey }: Receipt, message: Uint8Array): boolean {
  const [bytes, key] = [fromCanonicalBase64(signature), fromCanonicalBase64(publicKey)]
  if (!bytes || !key || !isSoundSignature(bytes) || !isSoundPublicKey(key)) return false
  return nodeSuite.verifyEd25519(key, message, bytes)
}

/** Whether the log tells the key with which was signed, and not its end. */
function isOf({ event, publicKey, keyVersion }: KeyEvent, receipt: Receipt): boolean {
  return event !== 'removed' && publicKey === receipt.publicKey && keyVersion === receipt.keyVersion
}

function flawed(flaw: ReceiptFlaw): ReceiptReading {
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
