import type { AuthenticationResponse } from '@countersign/protocol/accounts/passkeys'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { listIdentitiesOfSession } from '#accounts/identities/identity.ts'
import { listKeyWraps } from '#accounts/keys/key-wrap.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { nameDevice } from '#accounts/sessions/acting.ts'
import { refreshAuthTime } from '#accounts/sessions/proof.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import type { ProvedPerson } from '#accounts/sessions/opening.ts'
import { type ClientBrowser, type PasskeySession, type RecoveredSession, deviceOf } from '#accounts/sessions/session.ts'
import { errors, type RecoveredPasskeys, withRecoveredAssertion, withVerifiedAssertion } from './assertion.ts'
import type { FlowClient } from './ceremony.ts'
import { type BoundTo, beginFlow, consumeFlow, requestOptions } from './ceremony.ts'
import type { SessionLifecycle } from '#accounts/sessions/ending.ts'
import * as store from './store.ts'

/** Starts a re-authentication of the session's user, optionally for an authorization request. Throws `rate_limited`. */
export async function startReauthentication(
  { db, config, clock, rateLimits }: ServerContext,
  session: PasskeySession | RecoveredSession,
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
type SignInServices = { kernel: ServerContext; recoveredPasskeys: RecoveredPasskeys }

/**
 * Finishes a re-authentication with a passkey of the session's user: in a session that is limited by a recovery with
 * the passkey of that recovery, in others with one of the whole account. Throws `invalid_flow` or `invalid_credential`.
 */
export async function finishReauthentication(
  { kernel, recoveredPasskeys }: SignInServices,
  session: PasskeySession | RecoveredSession,
  finish: FinishReauthentication,
): Promise<Date> {
  const now = kernel.clock()
  const { userId, sessionId } = session
  const flow = await consumeFlow(kernel.db, 'reauthenticate', finish, now)
  if (flow.userId !== userId) throw errors.invalid_credential()
  const { credential } = finish
  const { challenge, requestSha256: provedRequestSha256 } = flow
  const refresh = async (tx: Transaction, { credentialId }: { credentialId: string }) => {
    await refreshAuthTime(tx, { sessionId, credentialId, provedRequestSha256 }, now)
    nameDevice(tx, session)
    await recordAuditEvent(tx, { action: 'session.reauthenticated', actor: 'user', userId }, now)
    return now
  }
  if (session.authMethod === 'passkey')
    return withVerifiedAssertion(kernel, { credential, challenge, owner: userId }, now, refresh)
  const passkey = await recoveredPasskeys.find(kernel.db, credential.id)
  if (!passkey) throw errors.invalid_credential()
  return withRecoveredAssertion(
    { kernel, recoveredPasskeys },
    { passkey, credential, challenge, session },
    now,
    refresh,
  )
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

/** What the browser of a user needs: the identities of the session, and what unlocks the keys. */
export async function readAccount(
  db: Database,
  { userId, limitedTo }: { userId: UserId; limitedTo?: { identityId: IdentityId } },
  now: Date,
) {
  const acting = limitedTo
    ? ({ authMethod: 'recovered_passkey', userId, identityId: limitedTo.identityId } as const)
    : ({ authMethod: 'passkey', userId } as const)
  const [identities, keyWraps] = await Promise.all([
    listIdentitiesOfSession(db, acting, now),
    limitedTo ? [] : listKeyWraps(db, userId),
  ])
  return { identities, keyWraps }
}

type FinishSignIn = {
  flowId: string
  credential: AuthenticationResponse
  /** User that the passkey must belong to, if the page has named the passkey. */
  userId?: UserId
  client: FlowClient
}

/**
 * Signs a user in. With a passkey that a recovery link brought, the session is limited to one identity. Throws
 * `invalid_flow`, `invalid_credential`, `account_suspended` or `unauthorized`.
 */
export async function finishSignIn(
  { kernel, sessions, recoveredPasskeys }: SignInServices & { sessions: SessionLifecycle },
  finish: FinishSignIn,
  browser: ClientBrowser,
) {
  const now = kernel.clock()
  const { credential, userId: owner } = finish
  const named = owner !== undefined && { owner }
  const [{ challenge, requestSha256 }, found] = await Promise.all([
    consumeFlow(kernel.db, 'authenticate', finish, now),
    store.findCredential(kernel.db, credential.id),
  ])
  const start = async (tx: Transaction, { limitedTo, ...proved }: ProvedPerson) => {
    const { userId } = proved
    const person = { ...proved, provedRequestSha256: requestSha256, ...(limitedTo && { limitedTo }) }
    const [session, account] = await Promise.all([
      sessions.start(tx, person, browser, now),
      readAccount(tx, person, now),
    ])
    const details = { device: deviceOf(browser) }
    await recordAuditEvent(tx, { action: 'session.created', actor: 'user', userId, details }, now)
    return { ...session, ...account, userId }
  }
  // Nearly every sign-in is by a passkey of an account, and needs no look for another.
  const passkey = found ? undefined : await recoveredPasskeys.find(kernel.db, credential.id)
  if (!passkey) return withVerifiedAssertion(kernel, { credential, challenge, found, ...named }, now, start)
  const services = { kernel, recoveredPasskeys }
  return withRecoveredAssertion(services, { passkey, credential, challenge, ...named }, now, (tx, proved, used) => {
    const { identityId, holdUntil } = used
    return start(tx, { ...proved, limitedTo: { identityId, holdUntil } })
  })
}
