import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId, UserId } from '@countersign/protocol/ids'
import { PushedRequest } from '@countersign/protocol/oauth/pushed-requests'
import { Type } from 'typebox'
import { addSeconds } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { siteKey } from '#platform/rate-limits/rate-limit-key.ts'
import { defineErrors } from '#platform/api-error.ts'
import { parse } from '#platform/schema.ts'
import type { ReceivedParameters } from './authorization-request.ts'
import type { ConnectorRequest } from './connector.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_request_uri: [
    400,
    'This sign-in has expired, was already used, or belongs to another app. Start again in the app.',
  ],
  invalid_request: [400, `The request is too large. Its parameters may take ${limits.keptRequestBytesMax} bytes.`],
})

/** Prefix of the reference of every pushed request (RFC 9126 §2.2). */
const prefix = 'urn:ietf:params:oauth:request_uri:'
/** Prefix of the reference of a request that a browser posted. Version 0.1.0 opens it as a pushed one. */
const postedPrefix = `${prefix}posted:`
/** Prefix of the reference of a request whose page is open in a browser. */
const keptPrefix = 'urn:countersign:authorization-request:'
const StoredParameters = Type.Record(Type.String(), Type.String())
const Connector = Type.Partial(Type.Object({ resource: Type.String(), scope: Type.String(), mode: Type.String() }))

/**
 * Stored request as received, with the access to another app's resource that it requests if it came through `/connect`.
 */
export type KeptRequest = { parameters: ReceivedParameters; connector?: ConnectorRequest | undefined }

/**
 * Source whose quota a stored request counts against: the owner of an authenticated app, the app itself if the operator
 * registered it, or the network address.
 */
export type Source = { ownerUserId: UserId } | { clientId: ClientId } | { address: string }

const { client_secret: _secret, clientId: _name, clientSecret: _legacy, ...kept } = PushedRequest.properties
/** Names of the known parameters; no other parameter is stored. */
const keptNames = Object.keys(kept)

function toKept({ parameters, connector }: KeptRequest): { parameters: string; connector: string | null } {
  const named = Object.entries(parameters).filter(([name]) => keptNames.includes(name))
  const texts = {
    parameters: JSON.stringify(Object.fromEntries(named)),
    connector: connector === undefined ? null : JSON.stringify(connector),
  }
  if (Buffer.byteLength(texts.parameters + (texts.connector ?? '')) > limits.keptRequestBytesMax)
    throw errors.invalid_request()
  return texts
}

/** Throws `invalid_request` for a request that is too large to be stored. */
export function requireKeepable(request: KeptRequest): void {
  toKept(request)
}

/**
 * Tells if a `request_uri` has a form that this provider issues for a page to open. Any other would have to be fetched,
 * which never happens.
 */
export function isStoredRequestUri(requestUri: string): boolean {
  return requestUri.startsWith(prefix)
}

/**
 * Stores a request that was checked and returns its reference, which is returned only here and is valid for one minute.
 */
export async function storePushedRequest(db: Database, request: NewRequest, now: Date): Promise<string> {
  const expiresAt = addSeconds(now, limits.pushedRequestLifetimeSeconds)
  return insert(db, { ...request, prefix, expiresAt }, now)
}

/**
 * Stores a request that a browser posted, so that its page can be left and returned to. The reference is valid for the
 * minute in which the browser follows the redirect to it. It has its own prefix, because no app has authenticated.
 */
export async function storePostedRequest(db: Database, request: NewRequest, now: Date): Promise<string> {
  const expiresAt = addSeconds(now, limits.pushedRequestLifetimeSeconds)
  return insert(db, { ...request, prefix: postedPrefix, expiresAt }, now)
}

/**
 * Stores a request that came from a browser as if it had been pushed, so that a passkey use can be bound to it. Only
 * the page that it was checked for can use the reference.
 */
export async function keepRequest(db: Database, request: NewRequest, now: Date): Promise<string> {
  const expiresAt = addSeconds(now, limits.keptRequestLifetimeSeconds)
  return insert(db, { ...request, prefix: keptPrefix, expiresAt }, now)
}

type NewRequest = KeptRequest & { clientId: ClientId; source: Source }

async function insert(
  db: Database,
  { prefix: before, clientId, source, expiresAt, ...request }: NewRequest & { prefix: string; expiresAt: Date },
  now: Date,
): Promise<string> {
  const requestUri = before + randomBytes(32).toString('base64url')
  const [requestUriSha256, sourceSha256] = [sha256(requestUri), sha256(nameOf(source))]
  const row = { requestUriSha256, clientId, ...toKept(request), sourceSha256, createdAt: now, expiresAt }
  await store.insertPushedRequest(db, row, { keptMax: limits.keptRequestsOfSourceMax, batch: 100 })
  return requestUri
}

function nameOf(source: Source): string {
  if ('ownerUserId' in source) return `owner ${source.ownerUserId}`
  return 'clientId' in source ? `client ${source.clientId}` : `address ${siteKey(source.address)}`
}

/**
 * Returns a stored request for a page to show, without consuming it. The first call extends its validity to ten minutes
 * if an app pushed it, and to thirty if a browser posted it. Throws the same `invalid_request_uri` for an unknown or
 * expired request and for one of another client.
 */
export async function openStoredRequest(
  db: Database,
  clientId: ClientId,
  requestUri: string,
  now: Date,
): Promise<KeptRequest> {
  const isPosted = requestUri.startsWith(postedPrefix)
  const seconds = isPosted ? limits.keptRequestLifetimeSeconds : limits.pushedRequestOpenSeconds
  const reference = { clientId, requestUriSha256: sha256(requestUri) }
  return read(await store.getPushedParameters(db, reference, { now, expiresAt: addSeconds(now, seconds) }))
}

/** Consumes a stored request when the transaction commits. Throws `invalid_request_uri`. */
export async function spendRequest(tx: Transaction, clientId: ClientId, requestUri: string, now: Date) {
  return read(await store.consumePushedParameters(tx, { clientId, requestUriSha256: sha256(requestUri) }, now))
}

/** Deletes up to `batch` expired requests and returns how many. */
export function prunePushedRequests(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredRequests(db, now, batch)
}

function read(row: { parameters: string; connector: string | null } | undefined): KeptRequest {
  if (!row) throw errors.invalid_request_uri()
  const parameters = parse(StoredParameters, JSON.parse(row.parameters))
  if (row.connector === null) return { parameters }
  const { resource, scope, mode } = parse(Connector, JSON.parse(row.connector))
  return { parameters, connector: { resource, scope, mode } }
}
