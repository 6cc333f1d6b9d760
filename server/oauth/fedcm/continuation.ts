import { FedcmAssertionRequest } from '@countersign/protocol/oauth/fedcm'
import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId, IdentityId, UserId } from '@countersign/protocol/ids'
import { type Static, Type } from 'typebox'
import { addSeconds } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { continuationPage } from '#oauth/authorize/parameters.ts'
import type { PasskeySession, Session } from '#accounts/sessions/session.ts'
import { parse } from '#platform/schema.ts'
import type { AssertionRequest, RequestingApp } from './request.ts'
import * as store from './store.ts'

const Request = Type.Object({
  identityId: Type.String(),
  /** Largest scope that the user may consent to. */
  allowedScope: Type.Array(Type.String()),
  sent: FedcmAssertionRequest,
})
type Request = Static<typeof Request>

/** FedCM sign-in that waits for the user in a window. */
type Continuation = { clientId: ClientId; origin: string; request: Request }

type Kept = { asking: RequestingApp; requested: AssertionRequest; identityId: IdentityId }

/**
 * Stores a FedCM sign-in for ten minutes, for a window of this browser and user. Returns the URL of the window, which
 * is on the origin of the configuration (FedCM §3.5).
 */
export async function storeContinuation(
  { tx, config }: { tx: Transaction; config: Pick<Config, 'baseUrl'> },
  { userId, sessionId }: PasskeySession,
  { asking, requested, identityId }: Kept,
  now: Date,
): Promise<string> {
  const reference = randomBytes(32).toString('base64url')
  const request: Request = { identityId, allowedScope: [...requested.scope], sent: requested.sent }
  await store.insertContinuation(tx, {
    referenceSha256: sha256(reference),
    userId,
    sessionId,
    clientId: asking.app.clientId,
    origin: asking.origin,
    request: JSON.stringify(request),
    expiresAt: addSeconds(now, limits.fedcmContinuationLifetimeSeconds),
  })
  return `${config.baseUrl.origin}/fedcm/continue?request=${reference}`
}

/**
 * Returns the URL of the sign-in page for a window that a browser has opened. Returns undefined for a reference that is
 * unknown, expired, used, or of another session. Does not consume it, so that the window can be reloaded.
 */
export async function getContinuation(
  { db, config }: { db: Database; config: Pick<Config, 'baseUrl' | 'authUrl'> },
  { sessionId }: Session,
  reference: string,
  now: Date,
): Promise<URL | undefined> {
  const row = await store.findContinuation(db, { referenceSha256: sha256(reference), sessionId }, now)
  if (!row) return undefined
  const { clientId, origin, request } = toContinuation(row)
  const { scope, nonce, codeChallenge, prompt, appKeyJwk } = request.sent
  const page = new URL('/signin', config.authUrl)
  const parameters = {
    client_id: clientId,
    redirect_uri: continuationPage(config.baseUrl.origin),
    response_type: 'code',
    scope,
    state: reference,
    nonce,
    code_challenge: codeChallenge,
    code_challenge_method: codeChallenge && 'S256',
    prompt,
    identity_id: request.identityId,
    app_key_jwk: appKeyJwk,
    fedcm_continue: '1',
    fedcm_origin: origin,
  }
  for (const [name, value] of Object.entries(parameters)) if (value) page.searchParams.set(name, value)
  return page
}

/** Consumes the FedCM sign-in of this user at this app; returns undefined if there is none. */
export async function consumeContinuation(
  tx: Transaction,
  { reference, ...of }: { reference: string; userId: UserId; clientId: ClientId },
  now: Date,
): Promise<Continuation | undefined> {
  const row = await store.consumeContinuation(tx, { ...of, referenceSha256: sha256(reference) }, now)
  return row && toContinuation(row)
}

/** Deletes the pending FedCM sign-ins of a user who is being deleted. */
export function deleteContinuations(tx: Transaction, userId: UserId): Promise<void> {
  return store.deleteContinuationsOfUser(tx, userId)
}

/** Deletes up to `batch` expired FedCM sign-ins and returns how many. */
export function pruneContinuations(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredContinuations(db, now, batch)
}

function toContinuation({ request, ...row }: { clientId: ClientId; origin: string; request: string }): Continuation {
  return { ...row, request: parse(Request, JSON.parse(request)) }
}
