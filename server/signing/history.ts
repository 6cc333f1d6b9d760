import type { Answer } from '@countersign/protocol/api'
import type { Database } from '#kernel/database.ts'
import type { Acting } from '#sessions/session.ts'
import { listEndedOfUser, type Position } from './history-store.ts'
import { toSigningRequest } from './request.ts'

type Page = { cursor?: string | undefined; count: number }
type History = Answer<'GET /api/signing/history'>

/** What a person signed, denied or let expire, the newest first: `count` of it, from where the page before ended. */
export async function readHistory(db: Database, acting: Acting, { cursor, count }: Page, now: Date): Promise<History> {
  const before = cursor === undefined ? undefined : readCursor(cursor)
  // One more than asked tells that there is a next page.
  const found = await listEndedOfUser(db, acting, { before, count: count + 1 }, now)
  const page = found.slice(0, count)
  const last = found.length > count ? page.at(-1) : undefined
  return { requests: page.map(toEndedRequest), nextCursor: last ? writeCursor(last) : null }
}

/** One whose time is over has expired, whether or not anybody has written that down yet. */
function toEndedRequest(request: Parameters<typeof toSigningRequest>[0]) {
  return toSigningRequest(request.status === 'pending' ? { ...request, status: 'expired' } : request)
}

/** Ids of requests are random, so it is the time that tells the place, also of one that is gone by then. */
function writeCursor({ createdAt, requestId }: Position): string {
  return `${createdAt.getTime()}-${requestId}`
}

function readCursor(cursor: string): Position {
  const end = cursor.indexOf('-')
  return { createdAt: new Date(Number(cursor.slice(0, end))), requestId: cursor.slice(end + 1) }
}
