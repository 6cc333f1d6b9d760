import type { ResponseOf } from '@countersign/protocol/api'
import type { UserId } from '@countersign/protocol/ids'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import type { Database } from '#platform/database/database.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import * as listingStore from './history-store.ts'
import type { EndedOfIdentity, Position, SignedForOrganization } from './history-store.ts'
import * as organizationAnswerStore from '#signing/requests/organizations/organization-answer-store.ts'
import type { OrganizationRequestKey } from '#signing/requests/organizations/organization-answer-store.ts'
import { type OrganizationRequestContext, toMemberView } from '#signing/requests/organizations/member-view.ts'
import { type Page, toPage } from './request-page.ts'
import { isForPerson, toSigningRequest } from '#signing/requests/identities/request.ts'
import * as store from '#signing/requests/identities/store.ts'

type History = ResponseOf<'GET /api/signing/history'>

/**
 * Lists requests that a user signed, denied or let expire, and requests that organizations signed with them, newest
 * first. Returns at most `count`, from the end of the previous page.
 */
export async function listSigningHistory(
  db: Database,
  { userId }: PasskeySession,
  { cursor, count }: Page,
  now: Date,
): Promise<History> {
  const before = cursor === undefined ? undefined : readPosition(cursor)
  // One more than requested shows that there is a next page.
  const requested = { before, count: count + 1 }
  const own = await listingStore.listEndedOfUser(db, userId, requested, now)
  const ofOrganizations = await listingStore.listSignedForOrganizations(db, userId, requested)
  const found = [...own, ...ofOrganizations].toSorted(newestFirst)
  const read = async (chosen: Found[]) => [
    ...(await readOwn(db, userId, chosen)),
    ...(await readOfOrganizations(db, userId, chosen, now)),
  ]
  return toPage(found, count, read, ({ createdAt, requestId }) => `${createdAt.getTime()}-${requestId}`)
}

type Found = EndedOfIdentity | SignedForOrganization

function newestFirst(one: Position, other: Position): number {
  return other.createdAt.getTime() - one.createdAt.getTime() || other.requestId.localeCompare(one.requestId)
}

async function readOwn(db: Database, userId: UserId, chosen: Found[]): Promise<SigningRequest[]> {
  const places = chosen.filter((each) => 'identityId' in each)
  return places.length === 0 ? [] : (await store.listRequestsOfUser(db, userId, places)).map(toEndedRequest)
}

async function readOfOrganizations(db: Database, userId: UserId, chosen: Found[], now: Date) {
  const places = chosen.filter((each) => 'organizationId' in each)
  return readSigned(db, userId, places, now)
}

async function readSigned(db: Database, userId: UserId, places: OrganizationRequestKey[], now: Date) {
  if (places.length === 0) return []
  const requests = await listingStore.readSignedForOrganizations(db, userId, places, now)
  const answers = Map.groupBy(
    await organizationAnswerStore.listMemberSignaturesOf(db, requests),
    ({ requestId }) => requestId,
  )
  // Current permissions do not matter: no action is left to take.
  const over = { maySign: false, mayApprove: false }
  return requests.map((request) => toMemberView(request, answers.get(request.requestId) ?? [], { ...request, ...over }))
}

/**
 * Finds a request that an organization has signed with this user, who keeps it whatever they may do there today.
 * Returns undefined for any other, and in a session that an organization has opened: that is for its own requests.
 */
export async function findSignedForOrganization(
  db: Database,
  { session, organizationId, requestId }: OrganizationRequestContext,
  now: Date,
): Promise<SigningRequest | undefined> {
  if (!isForPerson(session)) return undefined
  const { userId } = session
  if (!(await organizationAnswerStore.hasSigned(db, userId, { organizationId, requestId }))) return undefined
  const [found] = await readSigned(db, userId, [{ organizationId, requestId }], now)
  return found
}

/** Maps an ended request. An overdue request counts as expired, even if that has not been stored yet. */
function toEndedRequest(request: Parameters<typeof toSigningRequest>[0]) {
  return toSigningRequest(request.status === 'pending' ? { ...request, status: 'expired' } : request)
}

/** Parses a position. Request IDs are random, so the time defines the position, also of a request deleted since. */
function readPosition(cursor: string): Position {
  const end = cursor.indexOf('-')
  return { createdAt: new Date(Number(cursor.slice(0, end))), requestId: cursor.slice(end + 1) }
}
