import { transaction, type Database, type Transaction } from '#kernel/database.ts'
import { refusals } from '#kernel/refusal.ts'
import type { Session } from './session.ts'
import { shareSession } from './store.ts'

const refuse = refusals({
  unauthorized: [401, 'Sign in first.'],
  reauthentication_required: [403, 'Prove with your passkey that it is you, then try again.'],
})

/** A session as it was read: that it is there, and when the person had last proved to be. */
export type ActingSession = Pick<Session, 'sessionId' | 'authTime'>

/**
 * Runs what changes something by a session, in a transaction until whose end that session does not end. Refuses as
 * `holdSession` does. Whoever holds the person too does so first (`actingPersonTransaction`), as those do who end
 * sessions.
 */
export function actingTransaction<Result>(
  db: Database,
  session: ActingSession,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return transaction(db, async (tx) => {
    await holdSession(tx, session)
    return work(tx)
  })
}

/**
 * Keeps a session from being ended until the transaction does, for what must not be given after its end. Refuses
 * `unauthorized` where it has ended since it was read, and `reauthentication_required` where its last proof of presence
 * has been taken back since.
 */
export async function holdSession(tx: Transaction, { sessionId, authTime }: ActingSession): Promise<void> {
  const held = await shareSession(tx, sessionId)
  if (!held) throw refuse.unauthorized()
  if (held.authTime < authTime) throw refuse.reauthentication_required()
}
