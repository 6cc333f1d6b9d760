import type { ResponseOf } from '@countersign/protocol/api'
import { call } from '../../../lib/api/call.ts'

/** The number of pending signing requests, and the first of them, without their payloads. */
export type Pending = ResponseOf<'GET /api/signing/pending'>

const pageSize = 20
const pageSizeMax = 100

/**
 * Reads the pending requests: one page at least, and as many pages as are shown already. Reads all pages each time,
 * because requests are resolved on any of them.
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

/** Reads one page more than before. */
export function readMorePending({ requests }: Pending): Promise<Pending> {
  return readPending(requests.length + pageSize)
}

/** Appends the next page. A request may be on both, if an app was disconnected in between. */
function withNext({ requests }: Pending, next: Pending): Pending {
  const known = new Set(requests.map(({ requestId }) => requestId))
  return { ...next, requests: [...requests, ...next.requests.filter(({ requestId }) => !known.has(requestId))] }
}

/** Returns the newer result, unless more requests were shown since it was requested. */
export function latestOf(shown: Pending, read: Pending): Pending {
  return read.nextCursor !== undefined && read.requests.length < shown.requests.length ? shown : read
}
