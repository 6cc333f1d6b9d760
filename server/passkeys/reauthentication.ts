import type { AuthenticationResponse } from '@countersign/protocol/webauthn'
import { record } from '#kernel/audit.ts'
import { transaction } from '#kernel/database.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { refreshAuthTime, type Session } from '#sessions/session.ts'
import { refuse, verifyAssertion } from './assertion.ts'
import { beginFlow, finishFlow } from './flow.ts'
import { requestOptions } from './options.ts'
import { useCredential } from './store.ts'

/** Begins to prove again that the person of a session is there. */
export async function startReauthentication({ db, config, clock }: Kernel, { userId }: Session) {
  const { flowId, challenge } = await beginFlow(db, { ceremony: 'reauthenticate', userId }, clock())
  return { flowId, options: requestOptions(config.relyingPartyId, challenge) }
}

type Finish = { flowId: string; credential: AuthenticationResponse }

/** Proves it, with a passkey of the session's own person. Refuses `invalid_flow`, `invalid_credential`. */
export async function finishReauthentication(kernel: Kernel, session: Session, finish: Finish): Promise<Date> {
  const now = kernel.clock()
  const flow = await finishFlow(kernel.db, 'reauthenticate', finish.flowId, now)
  if (flow.userId !== session.userId) throw refuse.invalid_credential()
  const proved = await verifyAssertion(kernel, finish.credential, flow.challenge)
  if (proved.userId !== session.userId) throw refuse.invalid_credential()
  const { userId, sessionId } = session
  await transaction(kernel.db, async (tx) => {
    if (!(await useCredential(tx, proved, now))) throw refuse.invalid_credential()
    await refreshAuthTime(tx, sessionId, now)
    await record(tx, { action: 'session.reauthenticated', actor: 'person', userId }, now)
  })
  return now
}
