import type { ClientId, SessionId } from '@countersign/protocol/ids'
import { nameDevice } from '#accounts/sessions/acting.ts'
import { actingUserTransaction } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Database, transaction, type Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { type IdTokenHint, parseIdTokenHint } from '#oauth/id-token-hint.ts'
import { pairwiseSid } from '#accounts/backchannel-logout/sid.ts'
import { listReplacedSessions } from '#accounts/sessions/opening.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { endSessions } from '#tokens/families/session.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

const errors = defineErrors({
  session_not_found: [404, 'No session of this account has this ID.'],
  interaction_required: [403, 'id_token_hint was not issued in this session. Ask the user.'],
})

type OneSession = Pick<PasskeySession, 'userId' | 'sessionId'>
type ActingSession = OneSession & Pick<PasskeySession, 'userAgent'>

/**
 * Revokes a session of a user, optionally at the request of an app; returns false if the user never had a session of
 * this ID.
 */
export function signOut({ db, clock }: ServerContext, session: ActingSession, clientId?: ClientId): Promise<boolean> {
  return transaction(db, (tx) => {
    nameDevice(tx, session)
    return endOne(tx, session, clock(), clientId)
  })
}

async function endOne(tx: Transaction, { userId, sessionId }: OneSession, now: Date, clientId?: ClientId) {
  if ((await endSessions(tx, { userId, which: 'one', sessionId }, now)) === 0) return false
  const act = { action: 'session.revoked', actor: 'user', userId } as const
  await recordAuditEvent(tx, { ...act, ...(clientId !== undefined && { clientId }) }, now)
  return true
}

/**
 * Revokes a session for the app that was issued an ID token in that session, or in one that it replaced in its browser.
 * Other sites that send users here must not be able to sign them out (OpenID Connect RP-Initiated Logout §2, §6).
 * Throws `interaction_required`.
 */
export async function signOutByIdTokenHint(
  { kernel, keys }: { kernel: ServerContext; keys: SigningKeys },
  session: ActingSession,
  idToken: string,
): Promise<void> {
  const hint = await parseIdTokenHint({ keys, issuer: kernel.config.authUrl.origin }, idToken)
  if (!hint || !(await wasIssuedIn(kernel.db, hint, session.sessionId))) throw errors.interaction_required()
  await signOut(kernel, session, hint.clientId)
}

/** Checks whether an ID token names a session, or one of the same user that this session replaced in its browser. */
async function wasIssuedIn(db: Database, { sid, clientId, identityId }: IdTokenHint, sessionId: SessionId) {
  const isNamed = (each: SessionId) => sid === pairwiseSid({ sessionId: each, identityId }, clientId)
  return isNamed(sessionId) || (await listReplacedSessions(db, sessionId)).some(isNamed)
}

/**
 * Revokes one of a user's sessions. Throws the same `session_not_found` for an unknown session and for one of another
 * user.
 */
export async function signOutSession(
  { db, clock }: ServerContext,
  session: PasskeySession,
  sessionId: SessionId,
): Promise<void> {
  const { userId } = session
  const now = clock()
  await actingUserTransaction(db, session, async (tx) => {
    if (!(await endOne(tx, { userId, sessionId }, now))) throw errors.session_not_found()
  })
}

/** Revokes all sessions of a user except the current one. */
export async function signOutOtherSessions({ db, clock }: ServerContext, session: PasskeySession): Promise<void> {
  const { userId, sessionId } = session
  const now = clock()
  await actingUserTransaction(db, session, async (tx) => {
    const count = await endSessions(tx, { userId, which: 'all', kept: sessionId }, now)
    if (count > 0)
      await recordAuditEvent(tx, { action: 'session.others_revoked', actor: 'user', userId, details: { count } }, now)
  })
}
