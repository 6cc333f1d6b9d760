import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '#platform/config/config.ts'
import { parseJson } from '#platform/http/body.ts'
import { type ApiError, defineErrors } from '#platform/api-error.ts'
import { hash, randomUUID } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { addSeconds } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { isUuid } from '@countersign/protocol/values'
import { uuidToBytes } from '#platform/crypto/token-format.ts'
import * as store from './store.ts'
import type { CreationOptions, RequestOptions } from '@countersign/protocol/accounts/passkeys'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { credentialAlgorithms } from './public-key.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { clearSessionCookies, soleCookie } from '#accounts/sessions/cookie.ts'

const secureCookie = '__Host-countersign-passkey'
const plainCookie = 'countersign-passkey'
const bindingPattern = /^[\w-]{43}$/
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Rejects a ceremony that ran in a frame of another origin (WebAuthn §7.1 step 11, §7.2 step 14). The pages of this
 * service are never framed.
 */
export function rejectCrossOrigin(clientDataJson: string, toError: () => ApiError): void {
  const clientData = parse(Buffer.from(clientDataJson, 'base64url'))
  if (typeof clientData !== 'object' || clientData === null) throw toError()
  if ('crossOrigin' in clientData && clientData.crossOrigin !== false) throw toError()
  if ('topOrigin' in clientData) throw toError()
}

/** Parses JSON, after an optional byte order mark (§7.1 step 5). */
function parse(bytes: Uint8Array): unknown {
  try {
    return parseJson(utf8.decode(bytes))
  } catch {
    // The caller rejects client data that is not JSON, or that is not accepted as the body of a request either.
    return undefined
  }
}

const errors = defineErrors({ invalid_flow: [400, 'The attempt has expired or was already used. Start again.'] })

/** SHA-256 of the reference of the authorization request for which a passkey is used, or null. */
type ForRequest = { requestSha256: Uint8Array | null }

/** Purpose of a ceremony, with the values fixed at its start. */
export type Ceremony =
  | {
      ceremony: 'register'
      userId: UserId
      identityId: IdentityId
      handle: string
      displayName: string
      /** Only the invitation of this identity finishes it. */
      isInvited: boolean
    }
  | ({ ceremony: 'authenticate' } & ForRequest)
  | ({ ceremony: 'reauthenticate'; userId: UserId } & ForRequest)
  | { ceremony: 'add_passkey'; userId: UserId }
  | { ceremony: 'recover'; userId: UserId; recoveryAuthSha256: Uint8Array }
  | { ceremony: 'redeem'; userId: UserId; recoveryLinkId: string; userHandle: Uint8Array }

export type Flow = Ceremony & { challenge: string }

/** SHA-256 of the token that binds the ceremony to a browser, or null for an API client. */
export type BoundTo = { browserSha256: Uint8Array | null }

/** Starts a ceremony with a challenge that can be answered once, within five minutes (WebAuthn §13.4.3). */
export async function beginFlow(
  db: Database,
  ceremony: Ceremony & BoundTo,
  now: Date,
): Promise<{ flowId: string; challenge: string }> {
  const flowId = randomUUID()
  const challenge = randomBytes(32).toString('base64url')
  await store.insertFlow(db, {
    flowId,
    challenge,
    ...ceremony,
    expiresAt: addSeconds(now, limits.flowLifetimeSeconds),
  })
  return { flowId, challenge }
}

/** The ceremony to finish, and the client that finishes it. */
type Finishing = { flowId: string; client: FlowClient }

/**
 * Consumes a ceremony, which ends it in any case. A browser other than the one that started it can neither finish nor
 * end it. Throws `invalid_flow`.
 */
export async function consumeFlow<Kind extends Ceremony['ceremony']>(
  db: Database,
  kind: Kind,
  { flowId, client }: Finishing,
  now: Date,
): Promise<Extract<Flow, { ceremony: Kind }>> {
  return requireFlow(flowId, (id) => store.consumeFlow(db, kind, { flowId: id, client }, now))
}

/**
 * Finds a ceremony to finish, without consuming it: for what consumes it in the transaction that it authorizes. Throws
 * `invalid_flow`.
 */
export async function findFlow<Kind extends Ceremony['ceremony']>(
  db: Database,
  kind: Kind,
  { flowId, client }: Finishing,
  now: Date,
): Promise<Extract<Flow, { ceremony: Kind }>> {
  return requireFlow(flowId, (id) => store.findFlow(db, kind, { flowId: id, client }, now))
}

async function requireFlow<Found>(
  flowId: string,
  read: (flowId: string) => Promise<Found | undefined>,
): Promise<Found> {
  const id = flowId.toLowerCase()
  const flow = isUuid(id) ? await read(id) : undefined
  if (!flow) throw errors.invalid_flow()
  return flow
}

/** Deletes up to `batch` expired ceremonies. Returns their number. */
export function pruneFlows(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredFlows(db, now, batch)
}

/** Deletes the ceremonies of a user whose account is being suspended. */
export function deleteFlows(tx: Transaction, userId: UserId): Promise<void> {
  return store.deleteFlowsOfUser(tx, userId)
}

/** PRF salt from which a passkey derives the secret that wraps the master key. It is the same for all users. */
const prf = { eval: { first: hash('sha256', 'countersign/prf/v1', 'base64url') } }
const timeout = limits.flowLifetimeSeconds * 1000

/** User as the authenticator keeps them. `userHandle` is `user.id`, if it is not the ID of the user. */
type NewUser = { userId: UserId; handle: string; displayName: string; userHandle?: Uint8Array }
type Existing = { credentialId: string; transports: string[] }

/**
 * Builds the options of a registration ceremony: a discoverable credential with user verification (WebAuthn §5.4).
 * Authenticators that already hold a passkey of the user create no second one and do not replace the first.
 */
export function creationOptions(
  { relyingPartyId, brand }: Pick<Config, 'relyingPartyId' | 'brand'>,
  challenge: string,
  { userId, handle, displayName, userHandle }: NewUser,
  existing: Existing[] = [],
): CreationOptions {
  return {
    rp: { id: relyingPartyId, name: brand.name },
    user: { id: userHandleOf({ userId, userHandle: userHandle ?? null }), name: handle, displayName },
    challenge,
    pubKeyCredParams: credentialAlgorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout,
    excludeCredentials: existing.map(({ credentialId: id, transports }) => ({ id, type: 'public-key', transports })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
    extensions: { credProps: true, prf },
  }
}

/**
 * Builds the options of an authentication ceremony. They name no credential, so they are the same for all users (§5.5).
 */
export function requestOptions(rpId: string, challenge: string): RequestOptions {
  return { challenge, rpId, timeout, allowCredentials: [], userVerification: 'required', extensions: { prf } }
}

/**
 * Returns the user handle that a passkey stores (WebAuthn §5.4.3): the sixteen bytes of the user ID, or random ones if
 * a recovery link brought it. An authenticator would replace a passkey with the same user handle.
 */
export function userHandleOf({ userId, userHandle }: { userId: UserId; userHandle: Uint8Array | null }): string {
  return (userHandle === null ? uuidToBytes(userId) : Buffer.from(userHandle)).toString('base64url')
}

/**
 * Client that finishes a ceremony: the SHA-256 of the token that binds ceremonies to its browser, and whether it is a
 * page. A page cannot finish a ceremony that was started elsewhere. An API client has no cookies, and its ceremonies
 * are not bound.
 */
export type FlowClient = { browserSha256: Uint8Array | undefined; isPage: boolean }

/**
 * Binds a page's ceremony to its browser by a cookie. Returns the SHA-256 of the cookie's token, or null for an API
 * client. Ceremonies of one browser share one token, so that two tabs do not disturb each other.
 */
export function bindToBrowser(request: FastifyRequest, reply: FastifyReply, baseUrl: URL): Uint8Array | null {
  if (!isPage(request)) return null
  const token = bindingToken(request, baseUrl) ?? randomBytes(32).toString('base64url')
  setCookie(reply, token, baseUrl)
  return sha256(token)
}

/** Clears the cookies of this browser: the session and the ceremony binding. */
export function forgetBrowser(reply: FastifyReply, baseUrl: URL): void {
  clearSessionCookies(reply, baseUrl)
  setCookie(reply, '', baseUrl)
}

/** Sets the cookie, or clears it if the token is empty. */
function setCookie(reply: FastifyReply, token: string, baseUrl: URL): void {
  const lifetimeSeconds = token === '' ? 0 : 2 * limits.flowLifetimeSeconds
  const value = `${token}; Path=/; Max-Age=${lifetimeSeconds}; HttpOnly; SameSite=Lax`
  reply.header('set-cookie', `${secureCookie}=${value}; Secure`)
  // On `http://localhost` some browsers reject the `__Host-` prefix.
  if (baseUrl.protocol === 'http:') reply.header('set-cookie', `${plainCookie}=${value}`)
}

export function flowClientOf(request: FastifyRequest, baseUrl: URL): FlowClient {
  const token = bindingToken(request, baseUrl)
  return { browserSha256: token === undefined ? undefined : sha256(token), isPage: isPage(request) }
}

function bindingToken(request: FastifyRequest, baseUrl: URL): string | undefined {
  const token = soleCookie(request, baseUrl.protocol === 'https:' ? [secureCookie] : [secureCookie, plainCookie])
  return token !== undefined && bindingPattern.test(token) ? token : undefined
}

/**
 * Checks whether a page sent the request. Only the browser writes this header: scripts can neither set nor omit it
 * (Fetch Metadata, section 2.3).
 */
function isPage({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] === 'same-origin' || headers['sec-fetch-site'] === 'same-site'
}
