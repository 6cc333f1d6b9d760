import { FederatedRequest } from '@countersign/protocol/oauth/fedcm'
import { limits } from '@countersign/protocol/formats/limits'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { secondsAfter } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { continuationPage } from '#oauth/authorize/continuation.ts'
import type { Session } from '#accounts/sessions/session.ts'
import type { RequestingApp } from './requesting-app.ts'
import type { Wanted } from './request.ts'
import * as store from './store.ts'

const Request = Type.Object({
  identityId: Type.String(),
  /** What the person may agree to, at the most. */
  allowedScope: Type.Array(Type.String()),
  sent: FederatedRequest,
})
type Request = Static<typeof Request>

/** A sign-in that a browser mediates, and that waits for its person in a window. */
type Continuation = { clientId: string; origin: string; request: Request }

type Kept = { asking: RequestingApp; wanted: Wanted; identityId: string }

/**
 * Keeps a sign-in for ten minutes, for a window of this browser and person, and answers where the browser opens it (the
 * origin of the configuration, FedCM §3.5).
 */
export async function keepContinuation(
  { tx, config }: { tx: Transaction; config: Pick<Config, 'baseUrl'> },
  { userId, sessionId }: Session,
  { asking, wanted, identityId }: Kept,
  now: Date,
): Promise<string> {
  const reference = randomBytes(32).toString('base64url')
  const request: Request = { identityId, allowedScope: wanted.scope, sent: wanted.sent }
  await store.insertContinuation(tx, {
    referenceSha256: sha256(reference),
    userId,
    sessionId,
    clientId: asking.app.clientId,
    origin: asking.origin,
    request: JSON.stringify(request),
    expiresAt: secondsAfter(now, limits.fedcmContinuationLifetimeSeconds),
  })
  return `${config.baseUrl.origin}/fedcm/continue?request=${reference}`
}

/**
 * Where the window goes on that a browser has opened: the page to sign in, which asks what is open. Undefined for a
 * reference that is none, has expired, was used, or is of another session. It spends nothing, so that the window can be
 * loaded again.
 */
export async function openContinuation(
  { db, config }: { db: Database; config: Pick<Config, 'baseUrl' | 'authUrl'> },
  { sessionId }: Session,
  reference: string,
  now: Date,
): Promise<URL | undefined> {
  const row = await store.findContinuation(db, { referenceSha256: sha256(reference), sessionId }, now)
  if (!row) return undefined
  const { clientId, origin, request } = toContinuation(row)
  const { scope, nonce, codeChallenge, prompt } = request.sent
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
    fedcm_continue: '1',
    fedcm_origin: origin,
  }
  for (const [name, value] of Object.entries(parameters)) if (value) page.searchParams.set(name, value)
  return page
}

/** Takes out what waits for this person at this app; undefined where nothing does. */
export async function spendContinuation(
  tx: Transaction,
  { reference, ...of }: { reference: string; userId: string; clientId: string },
  now: Date,
): Promise<Continuation | undefined> {
  const row = await store.takeContinuation(tx, { ...of, referenceSha256: sha256(reference) }, now)
  return row && toContinuation(row)
}

/** Forgets what waits for a person who is going. */
export function forgetContinuations(tx: Transaction, userId: string): Promise<void> {
  return store.deleteContinuationsOfUser(tx, userId)
}

/** Deletes up to `batch` sign-ins that nobody finished in time, and says how many. */
export function pruneContinuations(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredContinuations(db, now, batch)
}

function toContinuation({ request, ...row }: { clientId: string; origin: string; request: string }): Continuation {
  return { ...row, request: Value.Parse(Request, JSON.parse(request)) }
}
