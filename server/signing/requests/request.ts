import { randomUUID } from 'node:crypto'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import { isReservedPayload } from '@countersign/protocol/formats/signing/reserved-payload'
import type { NewSigningRequest, SigningRequest, SigningStatus } from '@countersign/protocol/signing/signing'
import { playgroundClientId } from '#clients/registration/built-in-app.ts'
import { isConnected } from '#oauth/consents/consent.ts'
import { holdIdentity } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import { laterOf, secondsAfter } from '#platform/clock.ts'
import { isReadOnly, transaction, type Database, type Transaction } from '#platform/database/database.ts'
import { verifies } from '#platform/crypto/ed25519.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { requireFresh, type Acting, type Session } from '#accounts/sessions/session.ts'
import { enqueueWebhooks } from '#clients/webhooks/delivery.ts'
import { toAskingApp } from './asking-app.ts'
import * as keysStore from '#signing/keys/store.ts'
import { writeMetadata } from './metadata.ts'
import { readOrganizationStatus } from './organization-request.ts'
import { countAsking, countUnconnected, isRecorded, requireRoom } from './quota.ts'
import * as quotaStore from './quota-store.ts'
import * as store from './store.ts'
import * as sweeps from './request-sweep-store.ts'
import { bindSignature, deleteSignatureUses } from './signature-use.ts'

const refuse = refusals({
  reserved_payload: [400, "payload must not start with {'version': because messages of this service itself do."],
  invalid_signature: [400, 'This is no valid signature of this text by the key that the request names.'],
  access_denied: [403, 'This request belongs to another app.'],
  identity_not_found: [404, 'No identity has this id.'],
  request_not_found: [404, 'There is no such signing request.'],
  app_not_active: [409, 'The app that asked is not active any more. The request can be denied.'],
  request_not_pending: [409, 'This request has been answered, or has expired.'],
  no_signing_key: [422, 'This identity has no signing key.'],
})

type Wanted = { identityId: string } & Pick<NewSigningRequest, 'payload' | 'metadata' | 'expiresInSeconds'>

/** An app that asks, and whose it is; `pendingMax` where fewer of its requests should wait than of others. */
type Asker = { clientId: string; ownerUserId: string | null; pendingMax?: number }

/**
 * Opens a request of an app, bound to the present key of the identity. Refuses `reserved_payload`, `invalid_request`,
 * `rate_limited`, `identity_not_found`, `no_signing_key`, `too_many_pending`.
 */
export async function openRequest(
  { db, rateLimits }: Pick<Kernel, 'db' | 'rateLimits'>,
  { pendingMax, ...app }: Asker,
  wanted: Wanted,
  now: Date,
) {
  const { clientId } = app
  const { identityId, payload, expiresInSeconds = limits.signingLifetimeSeconds } = wanted
  if (isReservedPayload(payload)) throw refuse.reserved_payload()
  const metadata = writeMetadata(wanted.metadata)
  const by = { signerId: identityId, ...app }
  const before = { ...by, isConnected: await isConnected(db, identityId, clientId) }
  await countAsking(rateLimits, before)
  if (!before.isConnected) {
    requireRoom(await store.countPending(db, { identityId, ...before }, now), { ...before, pendingMax }, now)
    await countUnconnected(rateLimits, before)
  }
  const requestId = randomUUID()
  const expiresAt = secondsAfter(now, expiresInSeconds)
  return transaction(db, async (tx) => {
    // Whoever opens or rotates holds the identity: what is counted and the key that is read stay as they are.
    const identity = await holdIdentity(tx, identityId)
    if (!identity) throw refuse.identity_not_found()
    const key = await keysStore.findCurrentKey(tx, identityId)
    if (!key) throw refuse.no_signing_key()
    const asking = { ...by, isConnected: await isConnected(tx, identityId, clientId) }
    requireRoom(await store.countPending(tx, { identityId, ...asking }, now), { ...asking, pendingMax }, now)

    const { keyVersion, publicKey } = key
    const request = { requestId, identityId, clientId, payload, metadata, keyVersion, publicKey, expiresAt }
    // The key may be of this very moment, by the clock of another process, or of a rotation that this has waited for.
    await store.insertRequest(tx, { ...request, createdAt: laterOf(now, key.createdAt) })
    const { userId } = identity
    const asked = { userId, identityId, clientId, details: { requestId } }
    if (await isRecorded(tx, asking, now))
      await record(tx, { action: 'signing.requested', actor: 'app', ...asked }, now)
    return { requestId, expiresAt: expiresAt.toISOString(), publicKey: toBase64(publicKey) }
  })
}

/**
 * Where an app's request stands. One that has expired is written down as such before anybody is told, so that it cannot
 * be signed after that. Refuses `request_not_found`, `access_denied`.
 */
export async function readStatus(
  { db, prepared }: Pick<Kernel, 'db' | 'prepared'>,
  clientId: string,
  requestId: string,
  now: Date,
) {
  const found = await store.findStatus(prepared, requestId)
  if (!found) return readOrganizationStatus(db, clientId, requestId, now)
  if (found.clientId !== clientId) throw refuse.access_denied()
  if (found.isFormer) return toStatus({ ...found, status: found.expiresAt > now ? 'pending' : 'expired' })
  return toStatus(await settled(db, found, now))
}

/** A request as its app sees it. */
function toStatus({ requestId, identityId, status, publicKey, expiresAt, signature, resolvedAt }: store.RequestStatus) {
  return {
    requestId,
    identityId,
    status,
    publicKey: toBase64(publicKey),
    expiresAt: expiresAt.toISOString(),
    ...(signature && { signature: toBase64(signature) }),
    ...(resolvedAt && { resolvedAt: resolvedAt.toISOString() }),
  }
}

/** Tells the apps of requests how they have ended, in the words in which they could ask for it. */
async function tellApps(tx: Transaction, ended: store.Ended[], now: Date): Promise<void> {
  const events = ended.map((request) => ({
    clientId: request.clientId,
    type: `signing.${request.status}` as const,
    data: toStatus(request),
  }))
  await enqueueWebhooks(tx, events, now)
}

/** A request for one of a person's identities. Refuses `request_not_found`. */
export async function readRequest(db: Database, acting: Acting, requestId: string, now: Date): Promise<SigningRequest> {
  return toSigningRequest(await settled(db, await findOwn(db, acting, requestId), now))
}

/**
 * Records a signature. The session has proved presence a short while ago: signatures that were given before can be read
 * by whoever holds a session. Refuses `request_not_found`, `request_not_pending`, `app_not_active`,
 * `reauthentication_required`, `invalid_signature`, `signature_reused`.
 */
export async function signRequest(
  db: Database,
  session: Session,
  { requestId, signature: written }: { requestId: string; signature: string },
  now: Date,
) {
  const request = await requirePending(db, session, requestId, now)
  if (request.appStatus !== 'active') throw refuse.app_not_active()
  requireFresh(session, now)
  const signature = fromCanonicalBase64(written)
  if (!signature || !verifies(Buffer.from(request.payload, 'utf8'), signature, request.publicKey))
    throw refuse.invalid_signature()
  await resolve(db, { session, request }, { status: 'signed', signature }, now)
  return {
    requestId,
    status: 'signed' as const,
    signature: written,
    publicKey: toBase64(request.publicKey),
    resolvedAt: now.toISOString(),
  }
}

/** Records that a person does not sign. Refuses `request_not_found`, `request_not_pending`. */
export async function denyRequest(db: Database, acting: Session, requestId: string, now: Date) {
  const request = await requirePending(db, acting, requestId, now)
  await resolve(db, { session: acting, request }, { status: 'denied' }, now)
  return { requestId, status: 'denied' as const, resolvedAt: now.toISOString() }
}

/** Writes down up to `batch` requests that have expired unanswered, and says how many. */
export function expireRequests(db: Database, now: Date, batch: number): Promise<number> {
  return transaction(db, async (tx) => {
    const expired = await sweeps.expireDue(tx, now, batch)
    await tellApps(tx, expired, now)
    return expired.length
  })
}

/** Tells apps of up to `batch` requests of deleted identities that have expired, and says how many. */
export function expireFormerRequests(db: Database, now: Date, batch: number): Promise<number> {
  return transaction(db, async (tx) => {
    const expired = await sweeps.deleteFormer(tx, now, batch)
    await tellApps(tx, expired, now)
    return expired.length
  })
}

/** Ends all requests that wait for an identity, and answers which those were. */
export async function expirePending(tx: Transaction, identityId: string, now: Date): Promise<string[]> {
  const expired = await store.expirePending(tx, identityId)
  await tellApps(tx, expired, now)
  return expired.map(({ requestId }) => requestId)
}

/** Deletes up to `batch` requests that led to nothing long ago, and says how many. */
export function pruneRequests(db: Database, now: Date, batch: number): Promise<number> {
  return sweeps.deleteEndedRequests(db, secondsAfter(now, -limits.signingEndedRememberedSeconds), batch)
}

/**
 * Forgets what identities that are going were asked and have signed. Apps that wait learn nothing of that: what they
 * have asked goes on waiting for them until it expires, each at its time, or they would learn which identities were one
 * person's.
 */
export async function forgetRequests(tx: Transaction, identityIds: string[]): Promise<void> {
  await store.deleteRequests(tx, identityIds)
  await deleteSignatureUses(tx, identityIds)
  await quotaStore.deleteRecords(tx, identityIds)
}

/** Requests to a person are theirs: an organization that has signed them in alone learns of none. */
export const isForPerson = ({ identityId }: Acting) => identityId === null

async function findOwn(db: Database, acting: Acting, requestId: string) {
  if (!isForPerson(acting)) return undefined
  const place = await store.findPlace(db, requestId)
  return place && store.findRequestOfUser(db, acting, place.identityId, requestId)
}

async function requirePending(db: Database, acting: Acting, requestId: string, now: Date) {
  const request = await settled(db, await findOwn(db, acting, requestId), now)
  if (request.status !== 'pending') throw notPending(request.status)
  return request
}

/** Answers the request, unless somebody else was faster. */
async function resolve(
  db: Database,
  { session, request }: { session: Session; request: store.RequestOfUser },
  resolution: Parameters<typeof store.resolveRequest>[2],
  now: Date,
): Promise<void> {
  const { userId, identityId, requestId, clientId } = request
  const resolved = await actingTransaction(db, session, async (tx) => {
    const ended = await store.resolveRequest(tx, request, resolution, now)
    if (!ended) return false
    if (resolution.status === 'signed')
      await bindSignature(tx, resolution.signature, { identityId, clientId, role: 'self' })
    const action = resolution.status === 'signed' ? 'signing.signed' : 'signing.denied'
    await record(tx, { action, actor: 'person', userId, identityId, clientId, details: { requestId } }, now)
    await tellApps(tx, [ended], now)
    return true
  })
  if (resolved) return
  const { status } = await settled(db, await store.findRequest(db, identityId, requestId), now)
  throw notPending(status)
}

function notPending(status: SigningStatus) {
  return refuse.request_not_pending({ fields: { status } })
}

/**
 * A request as it stands at `now`, what has expired written down first. Where the database can only be read nobody can
 * sign either, so to say so is enough. Refuses `request_not_found` for none.
 */
async function settled<Stored extends store.RequestStatus>(
  db: Database,
  request: Stored | undefined,
  now: Date,
): Promise<Stored> {
  if (!request) throw refuse.request_not_found()
  if (request.status !== 'pending' || request.expiresAt > now) return request
  try {
    if (await expireRequest(db, request, now)) return { ...request, status: 'expired' }
  } catch (error) {
    if (isReadOnly(error)) return { ...request, status: 'expired' }
    throw error
  }
  // Somebody else has settled it between our reading and our writing.
  const after = await store.findRequest(db, request.identityId, request.requestId)
  if (!after) throw refuse.request_not_found()
  return { ...request, ...after }
}

/** Writes down that a request has expired; false where it was answered before. */
function expireRequest(db: Database, request: store.RequestStatus, now: Date): Promise<boolean> {
  return transaction(db, async (tx) => {
    const ended = await store.expireRequest(tx, request, now)
    if (ended) await tellApps(tx, [ended], now)
    return ended !== undefined
  })
}

/** A request as the person sees it. */
export function toSigningRequest(request: store.RequestOfUser): SigningRequest {
  const { requestId, identityId, handle, clientId, payload, status, connected } = request
  return {
    requestId,
    identityId,
    handle,
    app: toAskingApp(request),
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
