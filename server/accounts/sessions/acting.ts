import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import type { Session } from './session.ts'
import * as store from './store.ts'

const refuse = refusals({
  unauthorized: [401, 'Sign in first.'],
  reauthentication_required: [403, 'Prove with your passkey that it is you, then try again.'],
})

/** A session as it was read: that it is there, and when the person had last proved to be. */
export type ActingSession = Pick<Session, 'sessionId' | 'authTime'>

/**
 * How long what is done by a session waits for it at the end. It is shorter than PostgreSQL takes to look for a
 * deadlock (`deadlock_timeout`, 1 s): where the two meet, it is this that gives way and is tried again, and never what
 * ends the session. It is long enough for what else is done by the session, one after the other, also where the disk of
 * the database is slow.
 */
const patienceMilliseconds = 600

type Acting = { session: ActingSession; isHeld: boolean }

const actingIn = new WeakMap<Transaction, Acting>()

/**
 * Runs what changes something by a session, in a transaction that counts only if the session is there at its end. The
 * session is locked last, when all else is done. So what is refused locks no session, nobody waits for anything else
 * while they hold one, and who ends a session waits for commits alone. Refuses `unauthorized` where the session has
 * ended since it was read, and `reauthentication_required` where its last proof of presence has been taken back since.
 */
export function actingTransaction<Result>(
  db: Database,
  session: ActingSession,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return transaction(db, async (tx) => {
    const acting = { session, isHeld: false }
    actingIn.set(tx, acting)
    requireThere(session, await store.findAuthTime(tx, session.sessionId))
    const result = await work(tx)
    if (!acting.isHeld) requireThere(session, await store.lockSession(tx, session.sessionId, patienceMilliseconds))
    return result
  })
}

/**
 * Holds the session by which this transaction acts, if it does, before it ends sessions or takes proofs from them,
 * which may be the same. Refuses as `actingTransaction` does.
 */
export async function holdActing(tx: Transaction): Promise<void> {
  const acting = actingIn.get(tx)
  if (!acting || acting.isHeld) return
  requireThere(acting.session, await store.lockSession(tx, acting.session.sessionId))
  acting.isHeld = true
}

function requireThere({ authTime }: ActingSession, held: { authTime: Date } | undefined): void {
  if (!held) throw refuse.unauthorized()
  if (held.authTime < authTime) throw refuse.reauthentication_required()
}
