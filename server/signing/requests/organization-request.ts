import { randomUUID } from 'node:crypto'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import { isReservedPayload } from '@countersign/protocol/formats/signing/reserved-payload'
import type { OrganizationSignature, SigningProgress } from '@countersign/protocol/signing/organization-signing'
import type { NewSigningRequest, SigningStatus } from '@countersign/protocol/signing/signing'
import { record } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import { isReadOnly, transaction, type Database, type Transaction } from '#platform/database/database.ts'
import { readPages } from '#platform/database/pages.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { canSign } from '#organizations/membership/signatory.ts'
import { holdOrganization } from '#organizations/members/sso-members.ts'
import { actsForOrganization } from '#tokens/families/family.ts'
import { enqueueWebhooks } from '#clients/webhooks/delivery.ts'
import { writeMetadata } from './metadata.ts'
import * as organizationAnswerStore from './organization-answer-store.ts'
import type { AnswerOfIdentity, Place, StoredAnswer } from './organization-answer-store.ts'
import * as store from './organization-request-store.ts'
import { countAsking, countUnconnected, isRecorded, requireRoom, type Asking } from './quota.ts'

const refuse = refusals({
  reserved_payload: [400, "payload must not start with {'version': because messages of this service itself do."],
  access_denied: [403, 'This request belongs to another app.'],
  organization_not_found: [404, 'No active organization has this id.'],
  request_not_found: [404, 'There is no such signing request.'],
  no_signing_key: [422, 'Too few members who may sign and approve for this organization have signing keys.'],
})

type Wanted = { organizationId: string } & Pick<NewSigningRequest, 'payload' | 'metadata' | 'expiresInSeconds'>

/**
 * Opens a request of an app to an organization, with as many approvals as that demands now. Refuses
 * `reserved_payload`, `invalid_request`, `rate_limited`, `organization_not_found`, `no_signing_key`,
 * `too_many_pending`.
 */
export async function openOrganizationRequest(
  { db, rateLimits }: Pick<Kernel, 'db' | 'rateLimits'>,
  app: Pick<Asking, 'clientId' | 'ownerUserId'>,
  wanted: Wanted,
  now: Date,
) {
  const { organizationId, payload, expiresInSeconds = limits.signingLifetimeSeconds } = wanted
  if (isReservedPayload(payload)) throw refuse.reserved_payload()
  const metadata = writeMetadata(wanted.metadata)
  const { clientId } = app
  const [of, by] = [
    { organizationId, clientId },
    { signerId: organizationId, ...app },
  ]
  const before = { ...by, isConnected: await actsForOrganization(db, of, now) }
  await countAsking(rateLimits, before)
  if (!before.isConnected) {
    requireRoom(await store.countPending(db, { organizationId, ...before }, now), before, now)
    await countUnconnected(rateLimits, before)
  }
  const requestId = randomUUID()
  const expiresAt = secondsAfter(now, expiresInSeconds)
  return transaction(db, async (tx) => {
    // Whoever opens holds the organization: what is counted stays as it is, and so does what it demands.
    const organization = await holdOrganization(tx, organizationId)
    if (!organization) throw refuse.organization_not_found()
    const { name: organizationName, approvalsNeeded } = organization
    if (!(await canSign(tx, organizationId, approvalsNeeded))) throw refuse.no_signing_key()
    const asking = { ...by, isConnected: await actsForOrganization(tx, of, now) }
    requireRoom(await store.countPending(tx, { organizationId, ...asking }, now), asking, now)

    const request = { ...of, requestId, organizationName, payload, metadata, approvalsNeeded, expiresAt }
    await store.insertRequest(tx, request, now)
    const act = { action: 'organization.signing.requested', actor: 'app' } as const
    if (await isRecorded(tx, asking, now))
      await record(tx, { ...act, ...of, details: { requestId, approvalsNeeded } }, now)
    return { requestId, expiresAt: expiresAt.toISOString(), organization: toProgress(request, []) }
  })
}

/**
 * Where an app's request to an organization stands. One that has expired is written down as such before anybody is
 * told. Refuses `request_not_found`, `access_denied`.
 */
export async function readOrganizationStatus(db: Database, clientId: string, requestId: string, now: Date) {
  const request = await settled(db, await findPlaceOfApp(db, clientId, requestId), now)
  return toStatus(request, await organizationAnswerStore.listAnswers(db, request))
}

/** Where a request of an app to an organization is. Refuses `request_not_found`, `access_denied`. */
export async function findPlaceOfApp(db: Database, clientId: string, requestId: string): Promise<Place> {
  const place = await store.findPlace(db, requestId)
  if (!place) throw refuse.request_not_found()
  if (place.clientId !== clientId) throw refuse.access_denied()
  return place
}

/**
 * A request as its app sees it. What members have signed is nobody's to see before it is enough: an app could take it
 * for the signature of the organization.
 */
function toStatus(request: store.Ended, answers: StoredAnswer[]) {
  const { organizationId, requestId, status, expiresAt, resolvedAt } = request
  const first = status === 'signed' ? answers.find(({ role }) => role === 'sign') : undefined
  return {
    requestId,
    organizationId,
    status,
    expiresAt: expiresAt.toISOString(),
    organization: toProgress(request, answers),
    ...(first && { publicKey: toBase64(first.publicKey), signature: toBase64(first.signature) }),
    ...(first && { signatures: answers.map(toSignature) }),
    ...(resolvedAt && { resolvedAt: resolvedAt.toISOString() }),
  }
}

function toSignature({ identityId, memberId, role, publicKey, signature, answeredAt }: StoredAnswer) {
  const at = answeredAt.toISOString()
  const written: OrganizationSignature = {
    ...{ identityId, memberId, role, at },
    publicKey: toBase64(publicKey),
    signature: toBase64(signature),
  }
  return written
}

type Counted = Pick<store.StoredRequest, 'organizationId' | 'organizationName' | 'approvalsNeeded'>

/** How far a request is, by what counts of what was signed. */
export function toProgress(
  { organizationId: id, organizationName: name, approvalsNeeded }: Counted,
  answers: Pick<StoredAnswer, 'role'>[],
): SigningProgress {
  const approvals = answers.filter(({ role }) => role === 'approve').length
  return { id, name, isSigned: answers.length > approvals, approvals, approvalsNeeded }
}

/** Tells the apps of requests how they have ended, in the words in which they could ask for it. */
export async function tellApps(tx: Transaction, ended: store.Ended[], now: Date): Promise<void> {
  const events = []
  for (const request of ended) {
    const { clientId, status } = request
    if (status === 'pending') continue
    const data = toStatus(request, await organizationAnswerStore.listAnswers(tx, request))
    events.push({ clientId, type: `signing.${status}` as const, data })
  }
  await enqueueWebhooks(tx, events, now)
}

/** Writes down up to `batch` requests to organizations that have expired unanswered, and says how many. */
export function expireOrganizationRequests(db: Database, now: Date, batch: number): Promise<number> {
  return transaction(db, async (tx) => {
    const expired = await store.expireDue(tx, now, batch)
    await tellApps(tx, expired, now)
    return expired.length
  })
}

/** Deletes up to `batch` requests to organizations that led to nothing long ago, and says how many. */
export function pruneOrganizationRequests(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteEndedRequests(db, secondsAfter(now, -limits.signingEndedRememberedSeconds), batch)
}

/** Few, since each has its whole text. */
const pageSignatures = 100

/** What an identity has signed for organizations, the latest first. */
export async function* readOrganizationSignatures(db: Database, identityId: string) {
  const pages = readPages<AnswerOfIdentity>(pageSignatures, (before, count) =>
    organizationAnswerStore.listAnswersOfIdentity(db, identityId, { before, count }),
  )
  for await (const answers of pages)
    yield answers.map(({ publicKey, signature, answeredAt, ...answer }) => ({
      ...answer,
      publicKey: toBase64(publicKey),
      signature: toBase64(signature),
      answeredAt: answeredAt.toISOString(),
    }))
}

/** Takes identities that are going out of what waits; what was signed stays, without their handles. */
export async function forgetOrganizationSignatures(tx: Transaction, identityIds: string[]): Promise<void> {
  await organizationAnswerStore.forgetAnswers(tx, identityIds)
}

/**
 * A request as it stands at `now`, its end written down first where its time is over. Where the database can only be
 * read nobody can sign either, so to say so is enough. Refuses `request_not_found` for none.
 */
export async function settled(db: Database, place: Place, now: Date): Promise<store.StoredRequest> {
  const request = await store.findRequest(db, place, now)
  if (!request) throw refuse.request_not_found()
  if (request.status !== 'pending' || request.expiresAt > now) return request
  const expired: SigningStatus = 'expired'
  try {
    if (await expire(db, request, now)) return { ...request, status: expired }
  } catch (error) {
    if (isReadOnly(error)) return { ...request, status: expired }
    throw error
  }
  // Somebody else has settled it between our reading and our writing.
  const after = await store.findRequest(db, request, now)
  if (!after) throw refuse.request_not_found()
  return after
}

/** Writes down that a request has expired; false where it was answered before. */
function expire(db: Database, request: store.StoredRequest, now: Date): Promise<boolean> {
  return transaction(db, async (tx) => {
    const over = await store.endRequest(tx, request, 'expired', now)
    if (over) await tellApps(tx, [over], now)
    return over !== undefined
  })
}
