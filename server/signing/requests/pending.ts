import type { ResponseOf } from '@countersign/protocol/api'
import type { PendingRequest } from '@countersign/protocol/signing/pending-signing'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import type { Database } from '#platform/database/database.ts'
import { listSignatories, type OrganizationSigner } from '#organizations/membership/signatory.ts'
import type { Session } from '#accounts/sessions/session.ts'
import * as organizationAnswerStore from '#signing/requests/organizations/organization-answer-store.ts'
import { toMemberViews } from '#signing/requests/organizations/member-view.ts'
import * as organizationRequestStore from '#signing/requests/organizations/organization-request-store.ts'
import * as store from './pending-store.ts'
import { toPage, type Page } from './request-page.ts'
import { titleOf } from './text-title.ts'
import { isForPerson, toSigningRequest } from '#signing/requests/identities/request.ts'
import { listRequestsOfUser } from '#signing/requests/identities/store.ts'

/**
 * Lists the pending requests of a session's user: to their identities, and to organizations if unanswered by the user.
 *
 * Those of connected apps come first, ordered by expiry. Returns at most `count`, from the end of the previous page.
 */
export async function listPending(
  db: Database,
  session: Session,
  page: Page,
  now: Date,
): Promise<ResponseOf<'GET /api/signing/requests'>> {
  const members = await listMembers(db, session, now)
  const { found, asOf } = await findWaiting(db, { session, members }, page, now)
  const read = async (chosen: Found[]) => [
    ...(await readOwn(db, session, chosen)),
    ...(await toMemberViews(db, await readOfOrganizations(db, chosen, now), members)),
  ]
  const { requests, nextCursor } = await toPage(found, page.count, read, (last) => toCursor(last, asOf))
  return { requests, ...(nextCursor !== null && { nextCursor }) }
}

/** Counts pending requests and returns the same page with titles for texts, so that it is cheap to poll. */
export async function readPending(
  db: Database,
  session: Session,
  page: Page,
  now: Date,
): Promise<ResponseOf<'GET /api/signing/pending'>> {
  const members = await listMembers(db, session, now)
  const { found, asOf } = await findWaiting(db, { session, members }, page, now)
  const identities = isForPerson(session) ? await store.countWaitingForUser(db, session.userId, now) : []
  const ofOrganizations = members.length > 0 ? await store.countWaitingForMembers(db, placesOf(members), now) : 0
  const chosen = found.slice(0, page.count)
  const names = await store.readAppNames(db, [...new Set(chosen.map(({ clientId }) => clientId))])
  const last = chosen.at(-1)
  return {
    count: identities.reduce((sum, { count }) => sum + count, ofOrganizations),
    identities,
    requests: chosen.flatMap((each) => toPendingRequest(each, names, members) ?? []),
    ...(last && found.length > chosen.length && { nextCursor: toCursor(last, asOf) }),
  }
}

type Member = OrganizationSigner & { handle: string }

/**
 * Lists the memberships through which the user may sign or approve and that have a signing key; those that may sign
 * come first.
 */
async function listMembers(db: Database, session: Session, now: Date): Promise<Member[]> {
  const signatories = await listSignatories(db, session, now)
  if (signatories.length === 0) return []
  const signers = await organizationAnswerStore.listSigners(
    db,
    signatories.map(({ identityId }) => identityId),
  )
  const handles = new Map(signers.map(({ identityId, handle }) => [identityId, handle]))
  return signatories
    .flatMap((signatory) => {
      const handle = handles.get(signatory.identityId)
      return handle === undefined ? [] : { ...signatory, handle }
    })
    .toSorted((one, other) => Number(other.maySign) - Number(one.maySign))
}

type Found = store.WaitingForIdentity | store.WaitingForOrganization

/** Finds the requests of a page; one more than requested shows that there is a next page. */
async function findWaiting(
  db: Database,
  { session, members }: { session: Session; members: Member[] },
  { cursor, count }: Page,
  now: Date,
): Promise<{ found: Found[]; asOf: Date }> {
  const { after, asOf } = cursor === undefined ? { after: start, asOf: now } : readCursor(cursor)
  const requested = { after, asOf, count: count + 1 }
  const own = isForPerson(session) ? await store.listWaitingForUser(db, session.userId, requested, now) : []
  const ofOrganizations =
    members.length > 0 ? await store.listWaitingForMembers(db, placesOf(members), requested, now) : []
  return { found: [...own, ...ofOrganizations].toSorted(connectedFirst), asOf }
}

function placesOf(members: Member[]) {
  return {
    organizationIds: [...new Set(members.map(({ organization }) => organization.organizationId))],
    identityIds: members.map(({ identityId }) => identityId),
  }
}

async function readOwn(db: Database, session: Session, chosen: Found[]): Promise<SigningRequest[]> {
  const places = chosen.filter((each) => 'identityId' in each)
  if (places.length === 0) return []
  return (await listRequestsOfUser(db, session.userId, places)).map(toSigningRequest)
}

async function readOfOrganizations(db: Database, chosen: Found[], now: Date) {
  const places = chosen.filter((each) => 'organizationId' in each)
  return places.length === 0 ? [] : organizationRequestStore.listRequests(db, places, now)
}

/** Shorter than the titles of documents: this list is polled. */
const titleCharactersMax = 80

function toPendingRequest(found: Found, names: Map<string, string>, members: Member[]): PendingRequest | undefined {
  const { requestId, clientId, isConnected, expiresAt, beginning } = found
  const input = 'identityId' in found ? found : requestedMember(found, members)
  return (
    input && {
      requestId,
      identityId: input.identityId,
      handle: input.handle,
      app: { clientId, name: names.get(clientId) ?? clientId },
      title: titleOf(beginning, titleCharactersMax),
      connected: isConnected,
      expiresAt: expiresAt.toISOString(),
      ...('organizationId' in found && { organization: { id: found.organizationId, name: found.organizationName } }),
    }
  )
}

function requestedMember({ organizationId }: store.WaitingForOrganization, members: Member[]): Member | undefined {
  return members.find(({ organization }) => organization.organizationId === organizationId)
}

function connectedFirst(one: Found, other: Found): number {
  return (
    Number(other.isConnected) - Number(one.isConnected) ||
    one.expiresAt.getTime() - other.expiresAt.getTime() ||
    one.requestId.localeCompare(other.requestId)
  )
}

const start: store.Position = {
  isConnected: true,
  expiresAt: new Date(0),
  requestId: '00000000-0000-0000-0000-000000000000',
}

/** Encodes a position. Request IDs are random, so the other fields define it, also for a request deleted since. */
function toCursor({ isConnected, expiresAt, requestId }: store.Position, asOf: Date): string {
  return `${asOf.getTime()}-${isConnected ? 'c' : 'u'}-${expiresAt.getTime()}-${requestId}`
}

function readCursor(cursor: string): { after: store.Position; asOf: Date } {
  const [asOf, group, expiresAt, ...requestId] = cursor.split('-')
  return {
    after: { isConnected: group === 'c', expiresAt: new Date(Number(expiresAt)), requestId: requestId.join('-') },
    asOf: new Date(Number(asOf)),
  }
}
