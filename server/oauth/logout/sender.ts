import { limits } from '@countersign/protocol/formats/limits'
import { addSeconds } from '#platform/clock.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { OutboundError } from '#platform/outbound/fetch.ts'
import {
  claimLogouts,
  deleteLogout,
  onLogoutQueued,
  postponeLogout,
  setSlowToTake,
  type ClaimedLogout,
} from '#accounts/backchannel-logout/logout.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { nextRetryDelay } from '#platform/queue/back-off.ts'
import { startLaneSender, type Sender } from '#platform/queue/lane-sender.ts'
import { signLogoutToken, type Signable } from './logout-token.ts'

export type LogoutSender = Sender

type Provider = { kernel: ServerContext; keys: SigningKeys }

/** Longer than an attempt can take: a process that has not finished one by then has ended. */
const leaseSeconds = limits.webhookAnswerSeconds + 20

/**
 * Starts sending pending logout tokens; runs in each process of the service.
 *
 * One process leases each delivery; another takes over when the lease ends. So an app receives each token at least
 * once, with the same `jti`.
 */
export function startLogoutSender({ kernel, keys }: Provider): LogoutSender {
  const { db } = kernel
  return startLaneSender(kernel, {
    one: 'a logout token',
    several: 'logout tokens',
    onEnqueued: onLogoutQueued,
    claim: (claim) => claimLogouts(db, { ...claim, leaseEndsAt: addSeconds(claim.now, leaseSeconds) }),
    idOf: ({ logoutId }) => logoutId,
    attempt: (claimed, cut) => deliver({ kernel, keys }, claimed, cut),
    setSlow: (clientId, slowUntil) => setSlowToTake(db, clientId, slowUntil),
  })
}

/**
 * Attempts a delivery. Removes it from the queue when the app has accepted it (200, 204), has rejected it permanently
 * (400; Back-Channel Logout §2.8), or after the last attempt.
 *
 * An interrupted attempt is retried, because it may have arrived. Returns whether the app accepted it, if the outcome
 * says something about the app.
 */
async function deliver(
  { kernel, keys }: Provider,
  claimed: ClaimedLogout,
  cut: AbortSignal,
): Promise<'taken' | 'not taken' | undefined> {
  const { db, clock, log, telemetry } = kernel
  const { clientId, logoutId, attempt, url, algorithm, appStatus } = claimed
  // The app was deleted or no longer has a logout URI.
  if (url === null || algorithm === null) {
    await deleteLogout(db, claimed)
    return undefined
  }
  const sendable = { ...claimed, url, algorithm }
  const { status, reason, retryAfter } =
    appStatus === 'active'
      ? await attemptOnce({ kernel, keys }, sendable, cut)
      : { status: null, reason: 'app_disabled', retryAfter: undefined }
  const now = clock()
  if (status === null && cut.aborted) {
    await postponeLogout(db, claimed, { nextAttemptAt: now, attempts: attempt - 1 })
    return undefined
  }
  if (status !== null && status >= 200 && status < 300) {
    telemetry.logoutAttempted('delivered')
    await deleteLogout(db, claimed)
    return 'taken'
  }
  const result = reason !== null && ours.includes(reason) ? undefined : 'not taken'
  const seconds = status === 400 ? undefined : nextRetryDelay(attempt, retryAfter, now)
  if (seconds !== undefined) {
    telemetry.logoutAttempted('retry_scheduled')
    await postponeLogout(db, claimed, { nextAttemptAt: addSeconds(now, seconds), attempts: attempt })
    return result
  }
  telemetry.logoutAttempted('failed')
  log.warn({ clientId, logoutId, status, reason }, 'logout token delivery failed permanently')
  await deleteLogout(db, claimed)
  return result
}

/** Failure reasons that are not the app's. */
const ours = ['app_disabled', 'not_signed']

type Sendable = Signable & Pick<ClaimedLogout, 'isOfOperator' | 'attempt'> & { url: string }

async function attemptOnce({ kernel, keys }: Provider, claimed: Sendable, cut: AbortSignal) {
  const { clock, outbound, config, log } = kernel
  const { clientId, logoutId, attempt } = claimed
  const token = await signLogoutToken({ keys, issuer: config.authUrl.origin }, claimed, clock()).catch(
    (error: unknown) => {
      if (attempt === 1) log.error({ error, clientId, logoutId }, 'logout token signing failed')
    },
  )
  if (token === undefined) return { status: null, reason: 'not_signed', retryAfter: undefined }
  const body = new URLSearchParams({ logout_token: token }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'cache-control': 'no-store' }
  try {
    const sent = { headers, body, withinMilliseconds: limits.webhookAnswerSeconds * 1000, signal: cut }
    const client = claimed.isOfOperator ? outbound.ofOperator : outbound
    return { ...(await client.post(claimed.url, sent)), reason: null }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { status: null, reason: error.reason, retryAfter: undefined }
  }
}
