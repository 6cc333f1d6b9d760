import type { AuthenticationResponse } from '@countersign/protocol/accounts/passkeys'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { nameDevice } from '#accounts/sessions/acting.ts'
import { refreshAuthTime } from '#accounts/sessions/proof.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { type ClientBrowser, type PasskeySession, deviceOf } from '#accounts/sessions/session.ts'
import { errors, withVerifiedAssertion } from './assertion.ts'
import type { FlowClient } from './ceremony.ts'
import { type BoundTo, beginFlow, consumeFlow, requestOptions } from './ceremony.ts'
import type { SessionLifecycle } from '#accounts/sessions/ending.ts'

/** Starts a re-authentication of the session's user, optionally for an authorization request. Throws `rate_limited`. */
export async function startReauthentication(
  { db, config, clock, rateLimits }: ServerContext,
  session: PasskeySession,
  { requestUri, browserSha256 }: { requestUri: string | undefined } & BoundTo,
) {
  const { userId } = session
  const now = clock()
  await rateLimits.count('reauthentications-per-user', ownKey(session, now))
  const requestSha256 = requestUri === undefined ? null : sha256(requestUri)
  const ceremony = { ceremony: 'reauthenticate', userId, requestSha256, browserSha256 } as const
  const { flowId, challenge } = await beginFlow(db, ceremony, now)
  return { flowId, options: requestOptions(config.relyingPartyId, challenge) }
}

type FinishReauthentication = { flowId: string; credential: AuthenticationResponse; client: FlowClient }

/** Finishes a re-authentication with a passkey of the session's user. Throws `invalid_flow` or `invalid_credential`. */
export async function finishReauthentication(
  kernel: ServerContext,
  session: PasskeySession,
  finish: FinishReauthentication,
): Promise<Date> {
  const now = kernel.clock()
  const { userId, sessionId } = session
  const flow = await consumeFlow(kernel.db, 'reauthenticate', finish, now)
  if (flow.userId !== userId) throw errors.invalid_credential()
  const proof = { credential: finish.credential, challenge: flow.challenge, owner: userId }
  return withVerifiedAssertion(kernel, proof, now, async (tx, { credentialId }) => {
    await refreshAuthTime(tx, { sessionId, credentialId, provedRequestSha256: flow.requestSha256 }, now)
    await nameDevice(tx, sessionId)
    await recordAuditEvent(tx, { action: 'session.reauthenticated', actor: 'user', userId }, now)
    return now
  })
}

/**
 * Starts a sign-in, optionally for an authorization request. The response is the same for all users and does not
 * disclose whether an account exists.
 */
export async function startSignIn(
  { db, config, clock }: ServerContext,
  requestUri: string | undefined,
  { browserSha256 }: BoundTo,
) {
  const requestSha256 = requestUri === undefined ? null : sha256(requestUri)
  const { flowId, challenge } = await beginFlow(db, { ceremony: 'authenticate', requestSha256, browserSha256 }, clock())
  return { flowId, options: requestOptions(config.relyingPartyId, challenge) }
}

type FinishSignIn = { flowId: string; credential: AuthenticationResponse; client: FlowClient }

/** Signs a user in. Throws `invalid_flow` or `invalid_credential`. */
export async function finishSignIn(
  { kernel, sessions }: { kernel: ServerContext; sessions: SessionLifecycle },
  finish: FinishSignIn,
  browser: ClientBrowser,
) {
  const now = kernel.clock()
  const { challenge, requestSha256 } = await consumeFlow(kernel.db, 'authenticate', finish, now)
  return withVerifiedAssertion(kernel, { credential: finish.credential, challenge }, now, async (tx, proved) => {
    const { userId } = proved
    const session = await sessions.start(tx, { ...proved, provedRequestSha256: requestSha256 }, browser, now)
    const details = { device: deviceOf(browser) }
    await recordAuditEvent(tx, { action: 'session.created', actor: 'user', userId, details }, now)
    return { ...session, userId }
  })
}
