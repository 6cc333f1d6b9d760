import type { AuthenticationResponse } from '@countersign/protocol/accounts/webauthn'
import { record } from '#platform/audit/audit.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import { deviceOf, type Browser } from '#accounts/sessions/session.ts'
import { startSession } from '#tokens/families/session.ts'
import { withProof } from './assertion.ts'
import type { FlowClient } from './browser-binding.ts'
import { beginFlow, finishFlow, type BoundTo } from './flow.ts'
import { requestOptions } from './options.ts'

/**
 * Begins a sign-in, for the authorization request of this reference if there is one. It says the same to everybody, so
 * it tells nobody who has an account.
 */
export async function startSignIn(
  { db, config, clock }: Kernel,
  requestUri: string | undefined,
  { browserSha256 }: BoundTo,
) {
  const requestSha256 = requestUri === undefined ? null : sha256(requestUri)
  const { flowId, challenge } = await beginFlow(db, { ceremony: 'sign in', requestSha256, browserSha256 }, clock())
  return { flowId, options: requestOptions(config.relyingPartyId, challenge) }
}

type Finish = { flowId: string; credential: AuthenticationResponse; client: FlowClient }

/** Signs a person in. Refuses `invalid_flow`, `invalid_credential`. */
export async function finishSignIn(kernel: Kernel, finish: Finish, browser: Browser) {
  const now = kernel.clock()
  const { challenge, requestSha256 } = await finishFlow(kernel.db, 'sign in', finish, now)
  return withProof(kernel, { credential: finish.credential, challenge }, now, async (tx, proved) => {
    const { userId } = proved
    const session = await startSession(tx, { ...proved, provedRequestSha256: requestSha256 }, browser, now)
    const details = { device: deviceOf(browser) }
    await record(tx, { action: 'session.started', actor: 'person', userId, details }, now)
    return { ...session, userId }
  })
}
