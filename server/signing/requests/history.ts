import type { Answer } from '@countersign/protocol/api'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import type { Database } from '#platform/database/database.ts'
import type { Acting } from '#accounts/sessions/session.ts'
import * as listingStore from './listing-store.ts'
import type { EndedOfIdentity, Position, SignedForOrganization } from './listing-store.ts'
import * as organizationAnswerStore from './organization-answer-store.ts'
import { toMemberView } from './organization-view.ts'
import { toPage, type Page } from './request-page.ts'
import { toSigningRequest } from './request.ts'
import * as store from './store.ts'

type History = Answer<'GET /api/signing/history'>

/**
 * What a person signed, denied or let expire, and what organizations have signed by them, the newest first: `count` of
 * it at most, from where the page before ended.
 */
export async function readHistory(db: Database, acting: Acting, { cursor, count }: Page, now: Date): Promise<History> {
  const before = cursor === undefined ? undefined : readPosition(cursor)
  // One more than asked tells that there is a next page.
  const wanted = { before, count: count + 1 }
  const own = await listingStore.listEndedOfUser(db, acting.userId, wanted, now)
  const ofOrganizations = await listingStore.listSignedForOrganizations(db, acting, wanted)
  const found = [...own, ...ofOrganizations].toSorted(newestFirst)
  const read = async (chosen: Found[]) => [
    ...(await readOwn(db, acting, chosen)),
    ...(await readOfOrganizations(db, acting, chosen, now)),
  ]
  return toPage(found, count, read, ({ createdAt, requestId }) => `${createdAt.getTime()}-${requestId}`)
}

type Found = EndedOfIdentity | SignedForOrganization

function newestFirst(one: Position, other: Position): number {
  return other.createdAt.getTime() - one.createdAt.getTime() || other.requestId.localeCompare(one.requestId)
}

async function readOwn(db: Database, acting: Acting, chosen: Found[]): Promise<SigningRequest[]> {
  const places = chosen.filter((each) => 'identityId' in each)
  return places.length === 0 ? [] : (await store.listRequestsOfUser(db, acting, places)).map(toEndedRequest)
}

async function readOfOrganizations(db: Database, acting: Acting, chosen: Found[], now: Date) {
  const places = chosen.filter((each) => 'organizationId' in each)
  if (places.length === 0) return []
  const requests = await listingStore.readSignedForOrganizations(db, acting, places, now)
  const answers = Map.groupBy(await organizationAnswerStore.listAnswersTo(db, requests), ({ requestId }) => requestId)
  // What they may do there still is not asked: nothing is left to do.
  const over = { maySign: false, mayApprove: false }
  return requests.map((request) => toMemberView(request, answers.get(request.requestId) ?? [], { ...request, ...over }))
}

/** One whose time is over has expired, whether or not anybody has written that down yet. */
function toEndedRequest(request: Parameters<typeof toSigningRequest>[0]) {
  return toSigningRequest(request.status === 'pending' ? { ...request, status: 'expired' } : request)
}

/** Ids of requests are random, so it is the time that tells the place, also of one that is gone by then. */
function readPosition(cursor: string): Position {
  const end = cursor.indexOf('-')
  return { createdAt: new Date(Number(cursor.slice(0, end))), requestId: cursor.slice(end + 1) }
}
