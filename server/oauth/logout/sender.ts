import { limits } from '@countersign/protocol/formats/limits'
import { secondsAfter } from '#platform/clock.ts'
import type { Kernel } from '#platform/module/services.ts'
import { Unreachable } from '#platform/outbound/fetch.ts'
import {
  claimLogouts,
  deleteLogout,
  onLogoutQueued,
  postponeLogout,
  setSlowToTake,
  type ClaimedLogout,
} from '#accounts/sessions/logout.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { restAfter } from '#platform/queue/back-off.ts'
import { startLaneSender, type Sender } from '#platform/queue/lane-sender.ts'
import { signLogoutToken, type Signable } from './logout-token.ts'

export type LogoutSender = Sender

type Provider = { kernel: Kernel; keys: SigningKeys }

/** Longer than an attempt may take: a process that has not settled one by then is gone. */
const leaseSeconds = limits.webhookAnswerSeconds + 20

/**
 * Sends the logout tokens that are due, in each process of the service. Each is taken by one process for the length of
 * a lease; if that ends, another takes it over. So an app receives each at least once, under the same `jti`.
 */
export function startLogoutSender({ kernel, keys }: Provider): LogoutSender {
  const { db } = kernel
  return startLaneSender(kernel, {
    one: 'a logout token',
    several: 'logout tokens',
    onBell: onLogoutQueued,
    claim: (claim) => claimLogouts(db, { ...claim, leaseEndsAt: secondsAfter(claim.now, leaseSeconds) }),
    idOf: ({ logoutId }) => logoutId,
    attempt: (claimed, cut) => deliver({ kernel, keys }, claimed, cut),
    setSlow: (clientId, slowUntil) => setSlowToTake(db, clientId, slowUntil),
  })
}

/**
 * Attempts a delivery, and takes it out of the queue when the app has accepted it (200, 204), has refused it for good
 * (400; Back-Channel Logout §2.8), or after the last attempt. What is cut off is given back: it may have arrived.
 * Answers whether the app has taken it, where that says something about the app.
 */
async function deliver(
  { kernel, keys }: Provider,
  claimed: ClaimedLogout,
  cut: AbortSignal,
): Promise<'taken' | 'not taken' | undefined> {
  const { db, clock, log, telemetry } = kernel
  const { clientId, logoutId, attempt, url, algorithm, appStatus } = claimed
  // The app is gone, or does not want to know any more.
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
    await postponeLogout(db, claimed, { dueAt: now, attempts: attempt - 1 })
    return undefined
  }
  if (status !== null && status >= 200 && status < 300) {
    telemetry.logoutAttempted('delivered')
    await deleteLogout(db, claimed)
    return 'taken'
  }
  const result = appStatus === 'active' ? 'not taken' : undefined
  const seconds = status === 400 ? undefined : restAfter(attempt, retryAfter, now)
  if (seconds !== undefined) {
    telemetry.logoutAttempted('put_off')
    await postponeLogout(db, claimed, { dueAt: secondsAfter(now, seconds), attempts: attempt })
    return result
  }
  telemetry.logoutAttempted('given_up')
  log.warn({ clientId, logoutId, status, reason }, 'a logout token was given up')
  await deleteLogout(db, claimed)
  return result
}

async function attemptOnce({ kernel, keys }: Provider, claimed: Signable & { url: string }, cut: AbortSignal) {
  const { clock, outbound, config } = kernel
  const token = await signLogoutToken({ keys, issuer: config.authUrl.origin }, claimed, clock())
  const body = new URLSearchParams({ logout_token: token }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'cache-control': 'no-store' }
  try {
    const sent = { headers, body, withinMilliseconds: limits.webhookAnswerSeconds * 1000, signal: cut }
    return { ...(await outbound.post(claimed.url, sent)), reason: null }
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    return { status: null, reason: error.reason, retryAfter: undefined }
  }
}
