import { randomUUID } from 'node:crypto'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import { isReservedPayload } from '@countersign/protocol/formats/messages/reserved-payload'
import type { OrganizationSignature, SigningProgress } from '@countersign/protocol/signing/receipts'
import type { ClientId, IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { NewSigningRequest, SigningStatus } from '@countersign/protocol/signing/signing'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import { isReadOnly, transaction, type Database, type Transaction } from '#platform/database/database.ts'
import { readPages } from '#platform/database/pages.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { canSign } from '#organizations/membership/signatory.ts'
import { lockActiveOrganization } from '#organizations/members/organization.ts'
import { hasActiveOrganizationTokens } from '#tokens/families/family.ts'
import { enqueueWebhooks, type QueuedEvent } from '#clients/webhooks/delivery.ts'
import { serializeMetadata } from '#signing/requests/apps/metadata.ts'
import { toApproval, toExportedApproval } from '#signing/requests/approvals/approval.ts'
import * as organizationAnswerStore from './organization-answer-store.ts'
import type { AnswerOfIdentity, OrganizationRequestKey, StoredMemberSignature } from './organization-answer-store.ts'
import * as store from './organization-request-store.ts'
import { countAsking, countUnconnected, isRecorded, requireRoom, type Asking } from '#signing/requests/apps/quota.ts'

const errors = defineErrors({
  reserved_payload: [
    400,
    "payload must not start with {'version': because that prefix is reserved for messages of this service.",
  ],
  access_denied: [403, 'The signing request belongs to another app.'],
  organization_not_found: [404, 'No active organization has this ID.'],
  request_not_found: [404, 'Signing request not found.'],
  no_signing_key: [422, 'Not enough members with a signing key can sign and approve for this organization.'],
})

type OrganizationSigningRequestInput = { organizationId: OrganizationId } & Pick<
  NewSigningRequest,
  'payload' | 'metadata' | 'expiresInSeconds'
>

/**
 * Creates an app's request to an organization, with the number of approvals that the organization requires now. Throws
 * `reserved_payload`, `invalid_request`, `rate_limited`, `organization_not_found`, `no_signing_key`,
 * `too_many_pending`.
 */
export async function createOrganizationSigningRequest(
  { db, rateLimits }: Pick<ServerContext, 'db' | 'rateLimits'>,
  app: Pick<Asking, 'clientId' | 'ownerUserId'>,
  requested: OrganizationSigningRequestInput,
  now: Date,
) {
  const { organizationId, payload, expiresInSeconds = limits.signingLifetimeSeconds } = requested
  if (isReservedPayload(payload)) throw errors.reserved_payload()
  const metadata = serializeMetadata(requested.metadata)
  const { clientId } = app
  const [of, by] = [
    { organizationId, clientId },
    { signerId: organizationId, ...app },
  ]
  const before = { ...by, isConnected: await hasActiveOrganizationTokens(db, of, now) }
  await countAsking(rateLimits, before)
  if (!before.isConnected) {
    requireRoom(await store.countPending(db, { organizationId, ...before }, now), before, now)
    await countUnconnected(rateLimits, before)
  }
  const requestId = randomUUID()
  const expiresAt = addSeconds(now, Math.floor(expiresInSeconds))
  return transaction(db, async (tx) => {
    // Creators lock the organization, so that counts and its policy stay unchanged.
    const organization = await lockActiveOrganization(tx, organizationId)
    if (!organization) throw errors.organization_not_found()
    const { name: organizationName, approvalsNeeded } = organization
    if (!(await canSign(tx, organizationId, approvalsNeeded))) throw errors.no_signing_key()
    const asking = { ...by, isConnected: await hasActiveOrganizationTokens(tx, of, now) }
    requireRoom(await store.countPending(tx, { organizationId, ...asking }, now), asking, now)

    const request = { ...of, requestId, organizationName, payload, metadata, approvalsNeeded, expiresAt }
    await store.insertRequest(tx, request, now)
    const act = { action: 'signing.organization.requested', actor: 'app' } as const
    if (await isRecorded(tx, asking, now))
      await recordAuditEvent(tx, { ...act, ...of, details: { requestId, approvalsNeeded } }, now)
    return { requestId, expiresAt: expiresAt.toISOString(), organization: toProgress(request, []) }
  })
}

/**
 * Returns the status of an app's request to an organization. An overdue request is stored as expired before the app
 * gets the answer. Throws `request_not_found`, `access_denied`.
 */
export async function getOrganizationSigningStatus(db: Database, clientId: ClientId, requestId: string, now: Date) {
  const request = await loadRequestWithExpiry(db, await findRequestRouteOfApp(db, clientId, requestId), now)
  return toStatus(request, await organizationAnswerStore.listMemberSignatures(db, request))
}

/** Finds the key of an app's request to an organization. Throws `request_not_found`, `access_denied`. */
export async function findRequestRouteOfApp(
  db: Database,
  clientId: ClientId,
  requestId: string,
): Promise<OrganizationRequestKey> {
  const place = await store.findRequestRoute(db, requestId)
  if (!place) throw errors.request_not_found()
  if (place.clientId !== clientId) throw errors.access_denied()
  return place
}

/**
 * Maps a request to the view of its app. Member signatures stay hidden until they suffice: an app could mistake one for
 * the organization's signature.
 */
function toStatus<Request extends store.RequestStatus>(request: Request, answers: StoredMemberSignature[]) {
  const { organizationId, requestId, expiresAt, resolvedAt } = request
  const status: Request['status'] = request.status
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

function toSignature({
  identityId,
  memberId,
  role,
  publicKey,
  signature,
  answeredAt,
  ...stored
}: StoredMemberSignature) {
  const at = answeredAt.toISOString()
  const written: OrganizationSignature = {
    ...{ identityId, memberId, role, at },
    publicKey: toBase64(publicKey),
    signature: toBase64(signature),
    ...toApproval(stored),
  }
  return written
}

type ApprovalCount = Pick<store.StoredRequest, 'organizationId' | 'organizationName' | 'approvalsNeeded'>

/** Returns the progress of a request by the signatures that count. */
export function toProgress(
  { organizationId: id, organizationName: name, approvalsNeeded }: ApprovalCount,
  answers: Pick<StoredMemberSignature, 'role'>[],
): SigningProgress {
  const approvals = answers.filter(({ role }) => role === 'approve').length
  return { id, name, isSigned: answers.length > approvals, approvals, approvalsNeeded }
}

/** Queues webhook events that report how requests have ended, in the format of their status. */
export async function enqueueSigningWebhooks(tx: Transaction, ended: store.Ended[], now: Date): Promise<void> {
  const events: QueuedEvent[] = []
  for (const request of ended) {
    const { clientId, status } = request
    const answers = await organizationAnswerStore.listMemberSignatures(tx, request)
    const { signatures, ...data } = toStatus(request, answers)
    if (!signatures) {
      events.push({ clientId, type: `signing.${status}`, data })
      continue
    }
    // The statement of an approval contains the username, so it ends with the identity. Its deletion waits for the
    // organization, which the transaction of the last answer keeps.
    const parts = signatures.flatMap(({ identityId, approval }, index) =>
      approval ? [{ identityId, path: ['signatures', String(index), 'approval'], value: approval }] : [],
    )
    const kept = signatures.map(({ approval: _part, ...signature }) => signature)
    events.push({ clientId, type: `signing.${status}`, data: { ...data, signatures: kept }, parts })
  }
  await enqueueWebhooks(tx, events, now)
}

/** Marks up to `batch` unanswered requests to organizations as expired and returns how many. */
export function expireOrganizationRequests(db: Database, now: Date, batch: number): Promise<number> {
  return transaction(db, async (tx) => {
    const expired = await store.expireDue(tx, now, batch)
    await enqueueSigningWebhooks(tx, expired, now)
    return expired.length
  })
}

/** Deletes up to `batch` old unsigned requests to organizations and returns how many. */
export function pruneOrganizationRequests(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteEndedRequests(db, addSeconds(now, -limits.signingEndedRememberedSeconds), batch)
}

/** Few, because each contains its whole text. */
const pageSignatures = 100

/** Reads what an identity has signed for organizations, newest first. */
export async function* readOrganizationSignatures(db: Database, identityId: IdentityId) {
  const pages = readPages<AnswerOfIdentity>(pageSignatures, (before, count) =>
    organizationAnswerStore.listAnswersOfIdentity(db, identityId, { before, count }),
  )
  for await (const answers of pages)
    yield answers.map(({ publicKey, signature, answeredAt, ...answer }) => ({
      organizationId: answer.organizationId,
      organizationName: answer.organizationName,
      requestId: answer.requestId,
      clientId: answer.clientId,
      payload: answer.payload,
      status: answer.status,
      role: answer.role,
      publicKey: toBase64(publicKey),
      signature: toBase64(signature),
      answeredAt: answeredAt.toISOString(),
      ...toExportedApproval(answer),
    }))
}

/** Removes identities that are being deleted from pending requests. Completed signatures stay, without handles. */
export async function deleteOrganizationSignatures(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await organizationAnswerStore.deleteMemberSignatures(tx, identityIds)
}

/**
 * Removes identities that are being suspended from pending requests, also for the time after. The caller has locked
 * their organizations, so that no signature is being added.
 */
export async function withdrawOrganizationSignatures(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await organizationAnswerStore.deletePendingSignatures(tx, identityIds)
}

/**
 * Loads a request as of `now` and first stores its expiry if it is overdue. On a read-only database no signature can be
 * stored either, so the result alone is enough. Throws `request_not_found`.
 */
export async function loadRequestWithExpiry(
  db: Database,
  place: OrganizationRequestKey,
  now: Date,
): Promise<store.StoredRequest> {
  const request = await store.findRequest(db, place, now)
  if (!request) throw errors.request_not_found()
  if (request.status !== 'pending' || request.expiresAt > now) return request
  const expired: SigningStatus = 'expired'
  try {
    if (await expire(db, request, now)) return { ...request, status: expired }
  } catch (error) {
    if (isReadOnly(error)) return { ...request, status: expired }
    throw error
  }
  // Another caller has resolved it between our read and our write.
  const after = await store.findRequest(db, request, now)
  if (!after) throw errors.request_not_found()
  return after
}

/** Stores that a request has expired; returns false if it was answered before. */
function expire(db: Database, request: store.StoredRequest, now: Date): Promise<boolean> {
  return transaction(db, async (tx) => {
    const over = await store.closeRequest(tx, request, 'expired', now)
    if (over) await enqueueSigningWebhooks(tx, [over], now)
    return over !== undefined
  })
}
