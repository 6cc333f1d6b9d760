import type { PersonKey, SessionKey } from '#platform/rate-limits/rate-limit-key.ts'
import { isFresh } from './proof.ts'
import type { Session } from './session.ts'

type Limited = Pick<Session, 'authMethod' | 'authTime' | 'sessionId'>

/**
 * Whom a limit counts for that a session must not use up against the person whose it is: whoever has stolen it could
 * otherwise keep them from repairing the account.
 */
export function ownKey(session: Limited & Pick<Session, 'userId'>, now: Date): PersonKey {
  const { authMethod, sessionId, userId } = session
  return authMethod === 'passkey' ? keyOf(session, userId, now) : { sessionId }
}

/** The same for what counts for another owner than the person, such as a member of an organization. */
export function keyOf(session: Limited, owner: string, now: Date): SessionKey {
  const { authMethod, sessionId } = session
  return { owner, sessionId, isProved: authMethod === 'passkey' && isFresh(session, now) }
}
