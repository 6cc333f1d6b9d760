import type { Answer } from '@countersign/protocol/api'
import type { SigningRequest } from '@countersign/protocol/signing'
import type { Database } from '#kernel/database.ts'
import type { Acting } from '#sessions/session.ts'
import { listEndedOfUser, listSignedForOrganizations, type Position, type Wanted } from './history-store.ts'
import { listAnswersTo } from './organization-answer-store.ts'
import { toMemberView } from './organization-view.ts'
import { toSigningRequest } from './request.ts'

type Page = { cursor?: string | undefined; count: number }
type History = Answer<'GET /api/signing/history'>

/**
 * What a person signed, denied or let expire, and what organizations have signed by them, the newest first: `count` of
 * it, from where the page before ended.
 */
export async function readHistory(db: Database, acting: Acting, { cursor, count }: Page, now: Date): Promise<History> {
  const before = cursor === undefined ? undefined : readCursor(cursor)
  // One more than asked tells that there is a next page.
  const wanted = { before, count: count + 1 }
  const own = await listEndedOfUser(db, acting, wanted, now)
  const ofOrganizations = await readSignedForOrganizations(db, acting, wanted, now)
  const found = [...own.map(toEndedRequest), ...ofOrganizations].toSorted(newestFirst)
  const page = found.slice(0, count)
  const last = found.length > count ? page.at(-1) : undefined
  return { requests: page, nextCursor: last ? writeCursor(last) : null }
}

function newestFirst(one: SigningRequest, other: SigningRequest): number {
  const byTime = other.createdAt.localeCompare(one.createdAt)
  return byTime || other.requestId.localeCompare(one.requestId)
}

async function readSignedForOrganizations(db: Database, acting: Acting, wanted: Wanted, now: Date) {
  const requests = await listSignedForOrganizations(db, acting, wanted, now)
  if (requests.length === 0) return []
  const answers = Map.groupBy(await listAnswersTo(db, requests), ({ requestId }) => requestId)
  // What they may do there still is not asked: nothing is left to do.
  const over = { maySign: false, mayApprove: false }
  return requests.map((request) => toMemberView(request, answers.get(request.requestId) ?? [], { ...request, ...over }))
}

/** One whose time is over has expired, whether or not anybody has written that down yet. */
function toEndedRequest(request: Parameters<typeof toSigningRequest>[0]) {
  return toSigningRequest(request.status === 'pending' ? { ...request, status: 'expired' } : request)
}

/** Ids of requests are random, so it is the time that tells the place, also of one that is gone by then. */
function writeCursor({ createdAt, requestId }: SigningRequest): string {
  return `${Date.parse(createdAt)}-${requestId}`
}

function readCursor(cursor: string): Position {
  const end = cursor.indexOf('-')
  return { createdAt: new Date(Number(cursor.slice(0, end))), requestId: cursor.slice(end + 1) }
}
