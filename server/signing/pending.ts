import type { Answer } from '@countersign/protocol/api'
import type { SigningRequest } from '@countersign/protocol/signing'
import type { Database } from '#kernel/database.ts'
import { listSignatories } from '#organizations/signatory.ts'
import type { Session } from '#sessions/session.ts'
import { listSigners } from './organization-answer-store.ts'
import { toMemberViews } from './organization-answer.ts'
import { listRequests } from './organization-request-store.ts'
import {
  listWaitingForMembers,
  listWaitingForUser,
  type Position,
  type Waiting,
  type WaitingForIdentity,
  type WaitingForOrganization,
} from './pending-store.ts'
import { readCursor, toPage, type Page } from './request-page.ts'
import { isForPerson, toSigningRequest } from './request.ts'
import { listRequestsOfUser } from './request-store.ts'

type Pending = Answer<'GET /api/signing/requests'>

/**
 * What waits for the person of a session, the first that expires first: requests to their identities, and those to
 * organizations that they have not answered yet. `count` of it at most, from where the page before ended.
 */
export async function listPending(
  db: Database,
  session: Session,
  { cursor, count }: Page,
  now: Date,
): Promise<Pending> {
  const after = cursor === undefined ? start : readPosition(cursor)
  // One more than asked tells that there is a next page.
  const wanted = { after, count: count + 1 }
  const own = isForPerson(session) ? await listWaitingForUser(db, session.userId, wanted, now) : []
  const signatories = await listSignatoriesWithKey(db, session, now)
  const members = {
    organizationIds: [...new Set(signatories.map(({ organization }) => organization.organizationId))],
    identityIds: signatories.map(({ identityId }) => identityId),
  }
  const ofOrganizations = signatories.length > 0 ? await listWaitingForMembers(db, members, wanted, now) : []

  const found = [...own, ...ofOrganizations].toSorted(firstExpiring)
  const read = async (chosen: Found[]) => [
    ...(await readOwn(db, session, chosen)),
    ...(await toMemberViews(db, await readOfOrganizations(db, chosen, now), signatories)),
  ]
  const { requests, nextCursor } = await toPage(found, count, read, ({ expiresAt }) => expiresAt)
  return { requests, ...(nextCursor !== null && { nextCursor }) }
}

/** As whom the person may sign or approve, of those that have a key to sign with. */
async function listSignatoriesWithKey(db: Database, session: Session, now: Date) {
  const signatories = await listSignatories(db, session, now)
  if (signatories.length === 0) return []
  const signers = await listSigners(
    db,
    signatories.map(({ identityId }) => identityId),
  )
  const withKey = new Set(signers.map(({ identityId }) => identityId))
  return signatories.filter(({ identityId }) => withKey.has(identityId))
}

type Found = WaitingForIdentity | WaitingForOrganization

async function readOwn(db: Database, session: Session, chosen: Found[]): Promise<SigningRequest[]> {
  const places = chosen.filter((each) => 'identityId' in each)
  if (places.length === 0) return []
  return (await listRequestsOfUser(db, session, places)).map(toSigningRequest)
}

async function readOfOrganizations(db: Database, chosen: Found[], now: Date) {
  const places = chosen.filter((each) => 'organizationId' in each)
  return places.length === 0 ? [] : listRequests(db, places, now)
}

function firstExpiring(one: Waiting, other: Waiting): number {
  return one.expiresAt.getTime() - other.expiresAt.getTime() || one.requestId.localeCompare(other.requestId)
}

const start: Position = { expiresAt: new Date(0), requestId: '00000000-0000-0000-0000-000000000000' }

function readPosition(cursor: string): Position {
  const { at, requestId } = readCursor(cursor)
  return { expiresAt: at, requestId }
}
