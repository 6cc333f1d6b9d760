import { limits } from '@countersign/protocol/formats/limits'
import { PushedRequest } from '@countersign/protocol/oauth/pushed-requests'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { secondsAfter } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { siteKey } from '#platform/rate-limits/rate-limit-key.ts'
import { refusals } from '#platform/refusal.ts'
import type { AskedConnector } from './connector.ts'
import * as store from './store.ts'

const refuse = refusals({
  invalid_request_uri: [
    400,
    'This sign-in has expired, was used before, or belongs to another app. Start again there.',
  ],
  invalid_request: [400, `The request is too large: its parameters may take ${limits.keptRequestBytesMax} bytes.`],
})

/** Before the reference of every pushed request (RFC 9126 §2.2). */
const prefix = 'urn:ietf:params:oauth:request_uri:'
/** Before that of a request which came by a browser. */
const keptPrefix = 'urn:countersign:authorization-request:'
const Parameters = Type.Record(Type.String(), Type.String())
const Connector = Type.Partial(Type.Object({ resource: Type.String(), scope: Type.String(), mode: Type.String() }))

/** A request as it came, with what it asks at the resource of another app where it came by `/connect`. */
export type KeptRequest = { parameters: Record<string, string>; connector?: AskedConnector }

/**
 * Whose quota of kept requests one takes: the user whose app has proved itself, the app itself if it is the operator's,
 * or else the address that it came from.
 */
export type Source = { ownerUserId: string } | { clientId: string } | { address: string }

const { client_secret: _secret, clientId: _name, clientSecret: _legacy, ...kept } = PushedRequest.properties
/** The parameters that mean something: no other is kept, whatever a browser brings along. */
const keptNames = Object.keys(kept)

function toKept({ parameters, connector }: KeptRequest): { parameters: string; connector: string | null } {
  const named = Object.entries(parameters).filter(([name]) => keptNames.includes(name))
  const texts = {
    parameters: JSON.stringify(Object.fromEntries(named)),
    connector: connector === undefined ? null : JSON.stringify(connector),
  }
  if (Buffer.byteLength(texts.parameters + (texts.connector ?? '')) > limits.keptRequestBytesMax)
    throw refuse.invalid_request()
  return texts
}

/** Refuses `invalid_request` for a request that is too large to be kept. */
export function requireKeepable(request: KeptRequest): void {
  toKept(request)
}

/** Whether a `request_uri` is of the kind that we give out. Any other would have to be fetched, which is never done. */
export function isPushed(requestUri: string): boolean {
  return requestUri.startsWith(prefix)
}

/** Keeps a request that was checked, and answers the reference to it: told this once, good for a minute. */
export async function keepPushed(db: Database, request: NewRequest, now: Date): Promise<string> {
  const expiresAt = secondsAfter(now, limits.pushedRequestLifetimeSeconds)
  return insert(db, { ...request, prefix, expiresAt }, now)
}

/**
 * Keeps a request that came by a browser, as if it had been pushed, so that a passkey can be used for it and for no
 * other. It is opened by the page that it was checked for alone.
 */
export async function keepRequest(db: Database, request: NewRequest, now: Date): Promise<string> {
  const expiresAt = secondsAfter(now, limits.keptRequestLifetimeSeconds)
  return insert(db, { ...request, prefix: keptPrefix, expiresAt }, now)
}

type NewRequest = KeptRequest & { clientId: string; source: Source }

async function insert(
  db: Database,
  { prefix: before, clientId, source, expiresAt, ...request }: NewRequest & { prefix: string; expiresAt: Date },
  now: Date,
): Promise<string> {
  const requestUri = before + randomBytes(32).toString('base64url')
  const [referenceSha256, sourceSha256] = [sha256(requestUri), sha256(nameOf(source))]
  const row = { referenceSha256, clientId, ...toKept(request), sourceSha256, createdAt: now, expiresAt }
  await store.insertPushedRequest(db, row, { keptMax: limits.keptRequestsOfSourceMax, batch: 100 })
  return requestUri
}

function nameOf(source: Source): string {
  if ('ownerUserId' in source) return `owner ${source.ownerUserId}`
  return 'clientId' in source ? `client ${source.clientId}` : `address ${siteKey(source.address)}`
}

/**
 * The parameters behind a reference, for a page to show; that spends nothing. From the first time on the person has ten
 * minutes. Refuses `invalid_request_uri`, alike for another client's, an expired one and none.
 */
export async function openPushed(db: Database, clientId: string, requestUri: string, now: Date) {
  const expiresAt = secondsAfter(now, limits.pushedRequestOpenSeconds)
  const opened = await store.openParameters(db, { clientId, referenceSha256: sha256(requestUri) }, { now, expiresAt })
  return read(opened).parameters
}

/** The request behind a reference, which ends when the transaction succeeds. Refuses `invalid_request_uri`. */
export async function spendRequest(tx: Transaction, clientId: string, requestUri: string, now: Date) {
  return read(await store.takeParameters(tx, { clientId, referenceSha256: sha256(requestUri) }, now))
}

/** Deletes up to `batch` requests that nobody answered in time, and says how many. */
export function prunePushed(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredRequests(db, now, batch)
}

function read(row: { parameters: string; connector: string | null } | undefined): KeptRequest {
  if (!row) throw refuse.invalid_request_uri()
  const parameters = Value.Parse(Parameters, JSON.parse(row.parameters))
  if (row.connector === null) return { parameters }
  const { resource, scope, mode } = Value.Parse(Connector, JSON.parse(row.connector))
  return { parameters, connector: { resource, scope, mode } }
}
