import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import { hasFailed } from '#platform/database/pipeline.ts'
import { setActingDevice } from '#platform/audit/audit-log.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import type { Session } from './session.ts'
import * as store from './store.ts'

const errors = defineErrors({
  unauthorized: [401, 'Authentication required.'],
  reauthentication_required: [403, 'Recent authentication required. Authenticate again with a passkey.'],
})

/** Session as read at the start of a request, with its authentication time and its browser. */
export type ActingSession = Pick<Session, 'sessionId' | 'authTime' | 'userAgent'>

/**
 * Maximum wait for the session's lock at the end of a transaction. It is shorter than PostgreSQL's `deadlock_timeout`
 * (1 s). In a deadlock, this transaction therefore fails and is retried, and never the one that ends the session. It is
 * long enough for concurrent requests of the session to commit one after the other, even on a slow disk.
 */
const patienceMilliseconds = 600

type Acting = { session: ActingSession; isHeld: boolean }

const actingIn = new WeakMap<Transaction, Acting>()

/**
 * Runs a change on behalf of a session in a transaction that commits only if the session still exists at its end. The
 * session is locked last. Rejected requests therefore lock no session, and no transaction waits for another lock while
 * it holds a session. A transaction that ends a session waits only for commits. Audit events of the transaction contain
 * the browser of the session. Throws `unauthorized` if the session has ended since it was read, and
 * `reauthentication_required` if its last authentication was revoked.
 */
export function actingTransaction<Result>(
  db: Database,
  session: ActingSession,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return transaction(db, async (tx) => {
    const acting = { session, isHeld: false }
    actingIn.set(tx, acting)
    nameDevice(tx, session)
    const result = await work(tx).catch(async (error: unknown) => {
      // What ended with the session may be missing, and its absence no reason to tell a caller without a session.
      if (error instanceof ApiError && !hasFailed(tx))
        requireThere(session, await store.findAuthTime(tx, session.sessionId))
      throw error
    })
    if (!acting.isHeld) requireThere(session, await store.lockSession(tx, session.sessionId, patienceMilliseconds))
    return result
  })
}

/** Lets the audit events of a transaction contain the browser of a session, which need not exist at its end. */
export function nameDevice(tx: Transaction, { userAgent }: Pick<Session, 'userAgent'>): void {
  if (userAgent) setActingDevice(tx, userAgent)
}

/**
 * Locks the session that this transaction acts for, if any, before the transaction ends sessions or revokes
 * authentications, which may be of the same session. Throws like `actingTransaction`.
 */
export async function holdActing(tx: Transaction): Promise<void> {
  const acting = actingIn.get(tx)
  if (!acting || acting.isHeld) return
  requireThere(acting.session, await store.lockSession(tx, acting.session.sessionId))
  acting.isHeld = true
}

function requireThere({ authTime }: ActingSession, held: { authTime: Date } | undefined): void {
  if (!held) throw errors.unauthorized()
  if (held.authTime < authTime) throw errors.reauthentication_required()
}
