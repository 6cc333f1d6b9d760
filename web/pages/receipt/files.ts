import { isObject, parseJsonObject } from '@countersign/protocol/formats/json'
import type { receiptType } from '@countersign/protocol/signing/receipts'

/** A receipt and the text that it is for, as far as files have them. */
export type Given = { receipt: string | undefined; payload: string | undefined }

const jws = /^[\w-]+\.[\w-]+\.[\w-]+$/
/** Here as a literal, because the schemas of receipts load only with the verification. */
const type: typeof receiptType = 'countersign-receipt+jwt'

/** Decodes a file byte for byte: a byte order mark is a character of the text. Returns undefined if it is not UTF-8. */
export function decodeText(bytes: ArrayBuffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/**
 * Finds the receipt and the text in the contents of files: the receipt is a compact JWS of its type, or JSON that
 * contains one with its text, as apps store it. Any other file is the text, byte for byte.
 */
export function findReceipt(contents: string[]): Given {
  const given: Given = { receipt: undefined, payload: undefined }
  for (const content of contents) {
    const stored = storedIn(content)
    if (isReceipt(content.trim())) given.receipt = content.trim()
    else if (stored) Object.assign(given, stored)
    else given.payload = content
  }
  return given
}

/** Three words with dots between them, such as a host name, are a text that people sign too. */
function isReceipt(text: string): boolean {
  if (!jws.test(text)) return false
  const [header = ''] = text.split('.')
  return parseJsonObject(header)?.['typ'] === type
}

function storedIn(content: string): Given | undefined {
  if (!content.trimStart().startsWith('{')) return undefined
  const stored = parse(content.trimStart())
  if (!isObject(stored) || typeof stored['receipt'] !== 'string' || !isReceipt(stored['receipt'])) return undefined
  return {
    receipt: stored['receipt'],
    ...(typeof stored['payload'] === 'string' ? { payload: stored['payload'] } : { payload: undefined }),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The signed text may begin with a brace too.
    return undefined
  }
}
