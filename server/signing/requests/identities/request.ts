import type { SignView, Site } from '@countersign/protocol/pages'
import { redirectUriOrigins } from '#clients/registration/settings.ts'
import type { AppDirectory } from '#clients/registration/directory.ts'
import { type Database, type Transaction, isReadOnly, transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { toApproval } from '#signing/requests/approvals/approval.ts'
import * as store from './store.ts'
import { randomUUID } from 'node:crypto'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import { isReservedPayload } from '@countersign/protocol/formats/messages/reserved-payload'
import type { ClientId, IdentityId, UserId } from '@countersign/protocol/ids'
import { isUuid } from '@countersign/protocol/values'
import type { NewSigningRequest, SigningRequest } from '@countersign/protocol/signing/signing'
import { playgroundClientId } from '#clients/registration/built-in-app.ts'
import { isConnected } from '#oauth/consents/consent.ts'
import { lockActiveIdentity } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds, maxDate } from '#platform/clock.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { SessionSubject } from '#accounts/sessions/session.ts'
import { enqueueWebhooks } from '#clients/webhooks/delivery.ts'
import { serializeMetadata, toRequestingApp } from '#signing/requests/apps/metadata.ts'
import { findCurrentKey } from '#signing/keys/key.ts'
import { getOrganizationSigningStatus } from '#signing/requests/organizations/organization-request.ts'
import { countAsking, countUnconnected, isRecorded, requireRoom } from '#signing/requests/apps/quota.ts'
import * as quotaStore from '#signing/requests/apps/quota-store.ts'
import * as expiryStore from './request-sweep-store.ts'
import { deleteSignatureUses } from '#signing/requests/apps/signature-use.ts'

const errors = defineErrors({
  request_not_found: [404, 'Signing request not found.'],
  reserved_payload: [
    400,
    "payload must not start with {'version': because that prefix is reserved for messages of this service.",
  ],
  access_denied: [403, 'The signing request belongs to another app.'],
  identity_not_found: [404, 'No identity has this ID.'],
  no_signing_key: [422, 'The identity has no signing key.'],
})

type Surroundings = { db: Database; apps: Pick<AppDirectory, 'find'>; site: Site }

/**
 * Builds the page on which a user signs a request. The page itself loads the request with the user's session, because
 * no user is known here. Throws `request_not_found` for a malformed ID.
 */
export async function buildSignView({ db, apps, site }: Surroundings, query: unknown, now: Date): Promise<SignView> {
  const sent = new Map<string, unknown>(Object.entries(query ?? {}))
  const named = sent.get('requestId')
  const requestId = typeof named === 'string' ? named.toLowerCase() : ''
  if (!isUuid(requestId)) throw errors.request_not_found()
  const embedded = sent.get('embed') === '1'
  const framedBy = embedded ? await originsOfApp({ db, apps }, requestId) : []
  return { page: 'sign', site, requestId, embedded, framedBy, servedAt: now.toISOString() }
}

/** Returns the origins of the app's redirect URIs: only pages on these may frame the signing page. */
async function originsOfApp({ db, apps }: Pick<Surroundings, 'db' | 'apps'>, requestId: string): Promise<string[]> {
  const place = await store.findRequestRoute(db, requestId)
  const app = place && (await apps.find(place.clientId))
  return app ? redirectUriOrigins(app.redirectUris) : []
}

type SigningRequestInput = { identityId: IdentityId } & Pick<
  NewSigningRequest,
  'payload' | 'metadata' | 'expiresInSeconds'
>

/** App that requests a signature, and its owner; `pendingMax` limits its pending requests further. */
type SigningRequester = { clientId: ClientId; ownerUserId: UserId | null; pendingMax?: number }

/**
 * Creates an app's request, bound to the current key of the identity. Throws `reserved_payload`, `invalid_request`,
 * `rate_limited`, `identity_not_found`, `no_signing_key`, `too_many_pending`.
 */
export async function createSigningRequest(
  { db, rateLimits }: Pick<ServerContext, 'db' | 'rateLimits'>,
  { pendingMax, ...app }: SigningRequester,
  requested: SigningRequestInput,
  now: Date,
) {
  const { clientId } = app
  const { identityId, payload, expiresInSeconds = limits.signingLifetimeSeconds } = requested
  if (isReservedPayload(payload)) throw errors.reserved_payload()
  const metadata = serializeMetadata(requested.metadata)
  const by = { signerId: identityId, ...app }
  const before = { ...by, isConnected: await isConnected(db, identityId, clientId) }
  await countAsking(rateLimits, before)
  if (!before.isConnected) {
    requireRoom(await store.countPending(db, { identityId, ...before }, now), { ...before, pendingMax }, now)
    await countUnconnected(rateLimits, before)
  }
  const requestId = randomUUID()
  const expiresAt = addSeconds(now, Math.floor(expiresInSeconds))
  return transaction(db, async (tx) => {
    // Creating and rotating lock the identity, so that counts and the key stay unchanged.
    const [identity, key, isAppConnected] = await Promise.all([
      lockActiveIdentity(tx, identityId, now),
      findCurrentKey(tx, identityId),
      isConnected(tx, identityId, clientId),
    ])
    if (!identity) throw errors.identity_not_found()
    if (!key) throw errors.no_signing_key()
    const asking = { ...by, isConnected: isAppConnected }
    requireRoom(await store.countPending(tx, { identityId, ...asking }, now), { ...asking, pendingMax }, now)

    const { keyVersion, publicKey } = key
    const request = { requestId, identityId, clientId, payload, metadata, keyVersion, publicKey, expiresAt }
    // The key may have been created at this very moment by another process' clock, or by a rotation that this
    // transaction waited for.
    store.insertRequest(tx, { ...request, createdAt: maxDate(now, key.createdAt) })
    const { userId } = identity
    const input = { userId, identityId, clientId, details: { requestId } }
    if (await isRecorded(tx, asking, now))
      await recordAuditEvent(tx, { action: 'signing.requested', actor: 'app', ...input }, now)
    return { requestId, expiresAt: expiresAt.toISOString(), publicKey: toBase64(publicKey) }
  })
}

/**
 * Returns the status of an app's request. An overdue request is stored as expired before the app gets the answer, so
 * that it cannot be signed afterwards. Throws `request_not_found`, `access_denied`.
 */
export async function getSigningStatus(db: Database, clientId: ClientId, requestId: string, now: Date) {
  const found = await store.findStatus(db, requestId)
  if (!found) return getOrganizationSigningStatus(db, clientId, requestId, now)
  if (found.clientId !== clientId) throw errors.access_denied()
  if (found.isFormer) return toStatus({ ...found, status: found.expiresAt > now ? 'pending' : 'expired' })
  return toStatus(await loadRequestWithExpiry(db, found, now))
}

/** Maps a request to the view of its app. */
function toStatus<Request extends store.RequestStatus>(request: Request) {
  const { requestId, identityId, publicKey, expiresAt, signature, resolvedAt } = request
  const status: Request['status'] = request.status
  return {
    requestId,
    identityId,
    status,
    publicKey: toBase64(publicKey),
    expiresAt: expiresAt.toISOString(),
    ...(signature && { signature: toBase64(signature) }),
    ...toApproval(request),
    ...(resolvedAt && { resolvedAt: resolvedAt.toISOString() }),
  }
}

/** Queues webhook events that report how requests have ended, in the format of their status. */
export async function enqueueSigningWebhooks(tx: Transaction, ended: store.Ended[], now: Date): Promise<void> {
  const events = ended.map((request) => {
    const { approval, ...data } = toStatus(request)
    // The statement contains the username, so it ends with the identity, which is locked while its owner answers.
    const parts = approval ? [{ identityId: request.identityId, path: ['approval'], value: approval }] : []
    return { clientId: request.clientId, type: `signing.${request.status}` as const, data, parts }
  })
  await enqueueWebhooks(tx, events, now)
}

/** Returns a request to one of a user's identities. Throws `request_not_found`. */
export async function getSigningRequest(
  db: Database,
  acting: SessionSubject,
  requestId: string,
  now: Date,
): Promise<SigningRequest> {
  return toSigningRequest(await loadRequestWithExpiry(db, await findOwn(db, acting, requestId), now))
}

/** Marks up to `batch` unanswered requests as expired and returns how many. */
export function expireRequests(db: Database, now: Date, batch: number): Promise<number> {
  return transaction(db, async (tx) => {
    const expired = await expiryStore.expireDue(tx, now, batch)
    await enqueueSigningWebhooks(tx, expired, now)
    return expired.length
  })
}

/** Marks up to `batch` due requests of deleted identities as expired, for their apps, and returns how many. */
export function expireFormerRequests(db: Database, now: Date, batch: number): Promise<number> {
  return transaction(db, async (tx) => {
    const expired = await expiryStore.expireFormer(tx, now, batch)
    await enqueueSigningWebhooks(tx, expired, now)
    return expired.length
  })
}

/** Expires all pending requests of an identity and returns them. */
export async function expirePending(tx: Transaction, identityId: IdentityId, now: Date): Promise<string[]> {
  const expired = await store.expirePending(tx, identityId)
  await enqueueSigningWebhooks(tx, expired, now)
  return expired.map(({ requestId }) => requestId)
}

/** Deletes up to `batch` old unsigned requests and returns how many. */
export function pruneRequests(db: Database, now: Date, batch: number): Promise<number> {
  return expiryStore.deleteEndedRequests(db, addSeconds(now, -limits.signingEndedRememberedSeconds), batch)
}

/** Deletes up to `batch` old requests of deleted identities and returns how many. */
export function pruneFormerRequests(db: Database, now: Date, batch: number): Promise<number> {
  return expiryStore.deleteExpiredFormer(db, addSeconds(now, -limits.signingEndedRememberedSeconds), batch)
}

/**
 * Deletes all requests of identities that are being deleted.
 *
 * Apps are not notified: pending requests stay pending and expire at their own times. Otherwise apps could see which
 * identities belonged to one user.
 */
export async function deleteSigningRequests(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  for (const identityId of identityIds) await store.deleteRequests(tx, identityId)
  await deleteSignatureUses(tx, identityIds)
  await quotaStore.deleteRecords(tx, identityIds)
}

/** Tells if requests to identities are visible: they belong to the user, not to a session opened by SSO alone. */
export const isForPerson = ({ authMethod }: Pick<SessionSubject, 'authMethod'>) => authMethod === 'passkey'

/** Finds a request to one of the identities of a user. */
export async function findOwn(db: Database, acting: SessionSubject, requestId: string) {
  if (!isForPerson(acting)) return undefined
  const place = await store.findRequestRoute(db, requestId)
  return place && store.findRequestOfUser(db, acting.userId, place.identityId, requestId)
}

/**
 * Loads a request as of `now` and first stores its expiry if it is overdue. On a read-only database no signature can be
 * stored either, so the result alone is enough. Throws `request_not_found`.
 */
export async function loadRequestWithExpiry<Stored extends store.RequestStatus>(
  db: Database,
  request: Stored | undefined,
  now: Date,
): Promise<Stored> {
  if (!request) throw errors.request_not_found()
  if (request.status !== 'pending' || request.expiresAt > now) return request
  try {
    if (await expireRequest(db, request, now)) return { ...request, status: 'expired' }
  } catch (error) {
    if (isReadOnly(error)) return { ...request, status: 'expired' }
    throw error
  }
  // Another caller has resolved it between our read and our write.
  const after = await store.findRequest(db, request.identityId, request.requestId)
  if (!after) throw errors.request_not_found()
  return { ...request, ...after }
}

/** Stores that a request has expired; returns false if it was answered before. */
function expireRequest(db: Database, request: store.RequestStatus, now: Date): Promise<boolean> {
  return transaction(db, async (tx) => {
    const ended = await store.expireRequest(tx, request, now)
    if (ended) await enqueueSigningWebhooks(tx, [ended], now)
    return ended !== undefined
  })
}

/** Maps a request to the user's view. */
export function toSigningRequest(request: store.RequestOfUser): SigningRequest {
  const { requestId, identityId, handle, clientId, payload, status, connected } = request
  return {
    requestId,
    identityId,
    handle,
    app: toRequestingApp(request),
    connected,
    demonstration: clientId === playgroundClientId,
    payload,
    status,
    publicKey: toBase64(request.publicKey),
    createdAt: request.createdAt.toISOString(),
    expiresAt: request.expiresAt.toISOString(),
    ...(request.resolvedAt && { resolvedAt: request.resolvedAt.toISOString() }),
    ...(request.signature && { signature: toBase64(request.signature) }),
  }
}
