import type { Answer } from '@countersign/protocol/api'
import { call } from '../../../lib/call.ts'

/** How many requests wait for a signature, and the first of them, without their texts. */
export type Pending = Answer<'GET /api/signing/pending'>

const pageSize = 20
const pageSizeMax = 100

/**
 * What waits for a signature: a page of it, and as many requests as are shown already, or a few more. All pages are
 * read each time, since what is answered or expires may be on any of them.
 */
export async function readPending(shown: number): Promise<Pending> {
  const limit = String(Math.min(Math.max(shown, pageSize), pageSizeMax))
  let pending = await call('GET /api/signing/pending', { querystring: { limit } })
  while (pending.nextCursor !== undefined && pending.requests.length < shown) {
    const { nextCursor: cursor } = pending
    pending = withNext(pending, await call('GET /api/signing/pending', { querystring: { limit, cursor } }))
  }
  return pending
}

/** The same with a page more. */
export function readMorePending({ requests }: Pending): Promise<Pending> {
  return readPending(requests.length + pageSize)
}

/** What was read with the page after it, on which something may stand again whose app was disconnected meanwhile. */
function withNext({ requests }: Pending, next: Pending): Pending {
  const known = new Set(requests.map(({ requestId }) => requestId))
  return { ...next, requests: [...requests, ...next.requests.filter(({ requestId }) => !known.has(requestId))] }
}

/** What was read last, unless more is shown since that was asked for. */
export function latestOf(held: Pending, read: Pending): Pending {
  return read.nextCursor !== undefined && read.requests.length < held.requests.length ? held : read
}
