import { limits } from '@countersign/protocol/formats/limits'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { takeFitting } from '#platform/database/pages.ts'

/** What a caller asks for: from where the page before ended, and how many requests at most. */
export type Page = { cursor?: string | undefined; count: number }

/** A request that belongs on a page or after it, without its text, of which `textBytes` is the size. */
type Found = { requestId: string; textBytes: number }

/**
 * A page of the requests that were found, one more than asked telling that there is a next one: `count` of them at
 * most, and no more than `signingPageBytesMax` as JSON, but one at least. Texts are read once it is known that they
 * fit; `read` answers in any order, and may leave some out.
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

/** As JSON, with the comma that follows. */
function bytesOf(request: SigningRequest): number {
  return Buffer.byteLength(JSON.stringify(request)) + 1
}
