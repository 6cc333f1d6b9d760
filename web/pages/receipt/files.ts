import { isObject } from '@countersign/protocol/formats/json'

/** A receipt and the text that it is for, as far as files have them. */
export type Given = { receipt: string | undefined; payload: string | undefined }

const jws = /^[\w-]+\.[\w-]+\.[\w-]+$/

/**
 * Finds the receipt and the text in the contents of files: the receipt is a compact JWS, or JSON that contains one with
 * its text, as apps store it. Any other file is the text, byte for byte.
 */
export function findReceipt(contents: string[]): Given {
  const given: Given = { receipt: undefined, payload: undefined }
  for (const content of contents) {
    const stored = storedIn(content)
    if (jws.test(content.trim())) given.receipt = content.trim()
    else if (stored) Object.assign(given, stored)
    else given.payload = content
  }
  return given
}

function storedIn(content: string): Given | undefined {
  if (!content.trimStart().startsWith('{')) return undefined
  const stored = parse(content)
  if (!isObject(stored) || typeof stored['receipt'] !== 'string' || !jws.test(stored['receipt'])) return undefined
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
