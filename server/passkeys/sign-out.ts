import { listIdentities } from '#identity/identity.ts'
import { record } from '#kernel/audit.ts'
import { transaction, type Transaction } from '#kernel/database.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { refusals } from '#kernel/refusal.ts'
import { endOtherSessions, endSession, type Session } from '#sessions/session.ts'
import { endCodesOfSessions } from '#tokens/lineage.ts'

const refuse = refusals({ session_not_found: [404, 'None of your sessions has this id.'] })

type OneSession = Pick<Session, 'userId' | 'sessionId'>

/** Ends a session of a person; false where they have none of this id, or had. */
export function signOut({ db, clock }: Kernel, { userId, sessionId }: OneSession): Promise<boolean> {
  const now = clock()
  return transaction(db, async (tx) => {
    if (!(await endSession(tx, userId, sessionId))) return false
    await endCodes(tx, userId, [sessionId], now)
    await record(tx, { action: 'session.ended', actor: 'person', userId }, now)
    return true
  })
}

/** Ends one of a person's sessions. Refuses `session_not_found`, alike for another's and for none. */
export async function signOutThere(kernel: Kernel, session: OneSession): Promise<void> {
  if (!(await signOut(kernel, session))) throw refuse.session_not_found()
}

/** Ends all sessions of a person but the one that they are in. */
export async function signOutElsewhere({ db, clock }: Kernel, { userId, sessionId }: OneSession): Promise<void> {
  const now = clock()
  await transaction(db, async (tx) => {
    const count = await endElsewhere(tx, { userId, kept: sessionId }, now)
    if (count > 0)
      await record(tx, { action: 'session.others_ended', actor: 'person', userId, details: { count } }, now)
  })
}

/** Ends the sessions of a person, all but `kept`, and says how many. The caller records why. */
export async function endElsewhere(
  tx: Transaction,
  { userId, kept }: { userId: string; kept?: string },
  now: Date,
): Promise<number> {
  const sessionIds = await endOtherSessions(tx, userId, kept)
  await endCodes(tx, userId, sessionIds, now)
  return sessionIds.length
}

/** A code that was on its way to an app ends with its session; what apps were given goes on. */
async function endCodes(tx: Transaction, userId: string, sessionIds: string[], now: Date): Promise<void> {
  const identities = await listIdentities(tx, userId)
  await endCodesOfSessions(tx, { identityIds: identities.map(({ identityId }) => identityId), sessionIds }, now)
}
