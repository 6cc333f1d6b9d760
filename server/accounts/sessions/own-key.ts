import type { PersonKey, SessionKey } from '#platform/rate-limits/rate-limit-key.ts'
import { isRecentlyAuthenticated } from './proof.ts'
import type { RecoveredSession, Session } from './session.ts'

type Limited = Pick<Session | RecoveredSession, 'authMethod' | 'authTime' | 'sessionId'>

/**
 * Returns the key for a rate limit that a stolen session must not exhaust. Otherwise the thief could keep the user from
 * repairing the account.
 */
export function ownKey(session: Limited & Pick<Session, 'userId'>, now: Date): PersonKey {
  const { authMethod, sessionId, userId } = session
  return authMethod === 'passkey' ? keyOf(session, userId, now) : { sessionId }
}

/** Returns such a key for an owner other than the user, such as a member of an organization. */
export function keyOf(session: Limited, owner: string, now: Date): SessionKey {
  const { authMethod, sessionId } = session
  return { owner, sessionId, isProved: authMethod === 'passkey' && isRecentlyAuthenticated(session, now) }
}
