import { actingPersonTransaction } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import { transaction, type Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { readIdTokenHint } from '#oauth/authorize/id-token-hint.ts'
import { sidOf } from '#accounts/sessions/sid.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { endSessions } from '#tokens/families/session.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

const refuse = refusals({
  session_not_found: [404, 'None of your sessions has this id.'],
  interaction_required: [403, 'The ID token is not one of this session. Ask the person.'],
})

type OneSession = Pick<Session, 'userId' | 'sessionId'>

/** Ends a session of a person, for an app where one has asked; false where they have none of this id, or had. */
export function signOut({ db, clock }: Kernel, { userId, sessionId }: OneSession, clientId?: string): Promise<boolean> {
  return transaction(db, (tx) => endOne(tx, { userId, sessionId }, clock(), clientId))
}

async function endOne(tx: Transaction, { userId, sessionId }: OneSession, now: Date, clientId?: string) {
  if ((await endSessions(tx, { userId, which: 'one', sessionId }, now)) === 0) return false
  const act = { action: 'session.ended', actor: 'person', userId } as const
  await record(tx, { ...act, ...(clientId !== undefined && { clientId }) }, now)
  return true
}

/**
 * Ends a session for the app to which an ID token of this very session was given: whoever else sends people here must
 * not be able to sign them out (OpenID Connect RP-Initiated Logout §2, §6). Refuses `interaction_required`.
 */
export async function signOutForApp(
  { kernel, keys }: { kernel: Kernel; keys: SigningKeys },
  { userId, sessionId }: OneSession,
  idToken: string,
): Promise<void> {
  const hint = await readIdTokenHint({ keys, issuer: kernel.config.authUrl.origin }, idToken)
  if (!hint || hint.sid !== sidOf({ ...hint, sessionId }, hint.clientId)) throw refuse.interaction_required()
  await signOut(kernel, { userId, sessionId }, hint.clientId)
}

/** Ends one of a person's sessions. Refuses `session_not_found`, alike for another's and for none. */
export async function signOutThere({ db, clock }: Kernel, session: Session, sessionId: string): Promise<void> {
  const { userId } = session
  const now = clock()
  await actingPersonTransaction(db, session, async (tx) => {
    if (!(await endOne(tx, { userId, sessionId }, now))) throw refuse.session_not_found()
  })
}

/** Ends all sessions of a person but the one that they are in. */
export async function signOutElsewhere({ db, clock }: Kernel, session: Session): Promise<void> {
  const { userId, sessionId } = session
  const now = clock()
  await actingPersonTransaction(db, session, async (tx) => {
    const count = await endSessions(tx, { userId, which: 'all', kept: sessionId }, now)
    if (count > 0)
      await record(tx, { action: 'session.others_ended', actor: 'person', userId, details: { count } }, now)
  })
}
