import type { AuthenticationResponse } from '@countersign/protocol/accounts/webauthn'
import { record } from '#platform/audit/audit.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refreshAuthTime } from '#accounts/sessions/proof.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { refuse, withProof } from './assertion.ts'
import type { FlowClient } from './browser-binding.ts'
import { beginFlow, finishFlow, type BoundTo } from './flow.ts'
import { requestOptions } from './options.ts'

/**
 * Begins to prove again that the person of a session is there, for the request of this reference if there is one.
 * Refuses `rate_limited`.
 */
export async function startReauthentication(
  { db, config, clock, rateLimits }: Kernel,
  session: Session,
  { requestUri, browserSha256 }: { requestUri: string | undefined } & BoundTo,
) {
  const { userId } = session
  const now = clock()
  await rateLimits.count('reauthentication of a person', ownKey(session, now))
  const requestSha256 = requestUri === undefined ? null : sha256(requestUri)
  const ceremony = { ceremony: 'reauthenticate', userId, requestSha256, browserSha256 } as const
  const { flowId, challenge } = await beginFlow(db, ceremony, now)
  return { flowId, options: requestOptions(config.relyingPartyId, challenge) }
}

type Finish = { flowId: string; credential: AuthenticationResponse; client: FlowClient }

/** Proves it, with a passkey of the session's own person. Refuses `invalid_flow`, `invalid_credential`. */
export async function finishReauthentication(kernel: Kernel, session: Session, finish: Finish): Promise<Date> {
  const now = kernel.clock()
  const { userId, sessionId } = session
  const flow = await finishFlow(kernel.db, 'reauthenticate', finish, now)
  if (flow.userId !== userId) throw refuse.invalid_credential()
  const proof = { credential: finish.credential, challenge: flow.challenge, owner: userId }
  return withProof(kernel, proof, now, async (tx, { credentialId }) => {
    await refreshAuthTime(tx, { sessionId, credentialId, provedRequestSha256: flow.requestSha256 }, now)
    await record(tx, { action: 'session.reauthenticated', actor: 'person', userId }, now)
    return now
  })
}
