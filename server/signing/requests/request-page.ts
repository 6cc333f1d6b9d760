import { limits } from '@countersign/protocol/formats/limits'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { takeFitting } from '#platform/database/pages.ts'

/** Requested page: the end of the previous page, and the maximum number of requests. */
export type Page = { cursor?: string | undefined; count: number }

/** Request on or after a page, without its text; `textBytes` is the size of that. */
type Found = { requestId: string; textBytes: number }

/**
 * Builds a page from found requests; one more than requested shows that there is a next page.
 *
 * Returns at most `count` requests and at most `signingPageBytesMax` as JSON, but at least one. Texts are read only
 * after they are known to fit; `read` may return them in any order and omit some.
 */
export async function toPage<Each extends Found>(
  found: Each[],
  count: number,
  read: (chosen: Each[]) => Promise<SigningRequest[]>,
  cursorOf: (each: Each) => string,
) {
  const chosen = takeFitting(found.slice(0, count), limits.signingPageTextBytesMax, ({ textBytes }) => textBytes)
  const byId = new Map((await read(chosen)).map((request) => [request.requestId, request]))
  const inOrder = chosen.flatMap(({ requestId }) => byId.get(requestId) ?? [])
  const requests = takeFitting(inOrder, limits.signingPageBytesMax, bytesOf)
  const isCut = requests.length < inOrder.length
  const lastId = isCut ? requests.at(-1)?.requestId : chosen.at(-1)?.requestId
  const last = chosen.find(({ requestId }) => requestId === lastId)
  const hasMore = isCut || chosen.length < found.length
  return { requests, nextCursor: hasMore && last ? cursorOf(last) : null }
}

/** Returns the size as JSON, with the comma that follows. */
function bytesOf(request: SigningRequest): number {
  return Buffer.byteLength(JSON.stringify(request)) + 1
}
