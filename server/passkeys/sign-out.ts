import { record } from '#kernel/audit.ts'
import { transaction } from '#kernel/database.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { endSession, type Session } from '#sessions/session.ts'

/** Ends the session that a person is in. */
export async function signOut({ db, clock }: Kernel, { sessionId, userId }: Session): Promise<void> {
  await transaction(db, async (tx) => {
    if (await endSession(tx, sessionId)) await record(tx, { action: 'session.ended', actor: 'person', userId }, clock())
  })
}
