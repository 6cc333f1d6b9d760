import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { limits } from '@countersign/protocol/formats/limits'
import { secondsAfter } from '#kernel/clock.ts'
import type { Database, Transaction } from '#kernel/database.ts'
import { equalBytes, sha256 } from '#kernel/digest.ts'
import { bearerToken, guard } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { refusals } from '#kernel/refusal.ts'
import { newToken, readToken, uuidFromBytes, uuidToBytes } from '#kernel/token-format.ts'
import { sessionCookie } from './cookie.ts'
import { deleteEndedSessions, deleteSession, findSession, insertSession, setAuthTime, touchSession } from './store.ts'

/** A person who is signed in here. `expiresAt` is when the session ends if it stays unused. */
export type Session = { sessionId: string; userId: string; authTime: Date; expiresAt: Date }

const refuse = refusals({
  unauthorized: [401, 'Sign in first.'],
  invalid_origin: [403, 'A request with the session cookie must come from a page of this service.'],
  reauthentication_required: [403, 'Prove with your passkey that it is you, then try again.'],
})

const seenAgainAfterSeconds = 60

/** Lets through whoever has a session, by bearer token or cookie. Refuses `unauthorized`, `invalid_origin`. */
export function sessionGuard({ db, clock, config }: Kernel) {
  const pages = [config.authUrl.origin, config.businessUrl.origin]
  return guard(async (request): Promise<Session> => {
    const bearer = request.headers.authorization === undefined ? undefined : (bearerToken(request) ?? '')
    const token = bearer ?? sessionCookie(request, config.baseUrl)
    if (token === undefined) throw refuse.unauthorized()
    if (bearer === undefined && !isOurPage(request, pages)) throw refuse.invalid_origin()
    const session = await readSession(db, token, clock())
    if (!session) throw refuse.unauthorized()
    return session
  })
}

/** Opens a session for a person who has just proved who they are. The token is told this once. */
export async function openSession(tx: Transaction, userId: string, userAgent: string | undefined, now: Date) {
  const sessionId = randomUUID()
  const token = newToken('session', uuidToBytes(sessionId))
  const endsAt = secondsAfter(now, limits.sessionLifetimeSeconds)
  await insertSession(tx, { sessionId, tokenSha256: sha256(token), userId, userAgent, endsAt, now })
  return { token, sessionId, expiresAt: expiryOf({ lastSeenAt: now, endsAt }) }
}

/** Ends a session; false when it had ended before. */
export function endSession(db: Database | Transaction, sessionId: string): Promise<boolean> {
  return deleteSession(db, sessionId)
}

/** Notes that the person has proved their presence again. */
export async function refreshAuthTime(db: Database | Transaction, sessionId: string, now: Date): Promise<void> {
  await setAuthTime(db, sessionId, now)
}

/** Refuses `reauthentication_required` where the last proof of presence is older than five minutes. */
export function requireFresh({ authTime }: Session, now: Date): void {
  if (now.getTime() - authTime.getTime() > limits.freshAuthenticationSeconds * 1000)
    throw refuse.reauthentication_required()
}

/** Deletes up to `batch` sessions that have ended, and says how many. */
export function pruneSessions(db: Database, now: Date, batch: number): Promise<number> {
  return deleteEndedSessions(db, now, batch)
}

/** The session of a token. Notes at most once a minute that it was seen. */
async function readSession(db: Database, token: string, now: Date): Promise<Session | undefined> {
  const route = readToken('session', token, 16)
  if (!route) return undefined
  const row = await findSession(db, uuidFromBytes(route))
  if (!row || !equalBytes(row.tokenSha256, sha256(token)) || now >= expiryOf(row)) return undefined

  if (now >= secondsAfter(row.lastSeenAt, seenAgainAfterSeconds)) {
    await touchSession(db, row.sessionId, now)
    return { ...row, expiresAt: expiryOf({ ...row, lastSeenAt: now }) }
  }
  return { ...row, expiresAt: expiryOf(row) }
}

/** Thirty days after it was last seen, and ninety after it began at the latest. */
function expiryOf({ lastSeenAt, endsAt }: { lastSeenAt: Date; endsAt: Date }): Date {
  const idleEnd = secondsAfter(lastSeenAt, limits.sessionIdleSeconds)
  return idleEnd < endsAt ? idleEnd : endsAt
}

/** A cookie comes along with whatever makes the browser ask; only our own pages may ask with it. */
function isOurPage({ headers }: FastifyRequest, pages: string[]): boolean {
  if (headers.origin !== undefined) return pages.includes(headers.origin)
  return headers['sec-fetch-site'] === 'same-origin'
}
