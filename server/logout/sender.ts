import { limits } from '@countersign/protocol/formats/limits'
import { secondsAfter } from '#kernel/clock.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { Unreachable } from '#kernel/outbound.ts'
import { rest } from '#kernel/rest.ts'
import { claimLogouts, deleteLogout, onLogoutQueued, postponeLogout, type ClaimedLogout } from '#sessions/logout.ts'
import type { SigningKeys } from '#tokens/signing-keys.ts'
import { restAfter } from '#webhooks/back-off.ts'
import { signLogoutToken, type Signable } from './logout-token.ts'

export type LogoutSender = { stop: () => Promise<void> }

type Provider = { kernel: Kernel; keys: SigningKeys }

const underWayMax = 16
/** Of one app: one that answers slowly must not take up all of them. */
const underWayOfAppMax = 4
/** Longer than an attempt may take: a process that has not settled one by then is gone. */
const leaseSeconds = limits.webhookAnswerSeconds + 20
const restMilliseconds = 2000
const partingMilliseconds = 2000

/**
 * Sends the logout tokens that are due, in each process of the service. Each is taken by one process for the length of
 * a lease; if that ends, another takes it over. So an app receives each at least once, under the same `jti`.
 */
export function startLogoutSender({ kernel, keys }: Provider): LogoutSender {
  const { db, clock, log } = kernel
  const stopped = new AbortController()
  const cut = new AbortController()
  const underWay = new Map<Promise<void>, string>()
  let alarm = new AbortController()
  const wake = () => alarm.abort()
  const stopHearing = onLogoutQueued(wake)

  async function sendDue(): Promise<void> {
    const countMax = underWayMax - underWay.size
    if (countMax === 0) return
    const now = clock()
    const busyClientIds = busyOf([...underWay.values()])
    const bounds = { countMax, countOfAppMax: underWayOfAppMax, busyClientIds }
    const claimed = await claimLogouts(db, { now, leaseEndsAt: secondsAfter(now, leaseSeconds), ...bounds })
    for (const each of claimed) begin(each)
  }

  function begin(claimed: ClaimedLogout): void {
    const { clientId, logoutId } = claimed
    const sending = deliver({ kernel, keys }, claimed, cut.signal)
      .catch((error: unknown) => log.error({ error, clientId, logoutId }, 'a logout token was not settled'))
      .finally(() => {
        underWay.delete(sending)
        wake()
      })
    underWay.set(sending, clientId)
  }

  const running = (async () => {
    while (!stopped.signal.aborted) {
      // Before the look, so that a bell during it is heard.
      alarm = new AbortController()
      try {
        await sendDue()
      } catch (error) {
        log.warn({ error }, 'logout tokens could not be looked for')
      }
      await rest(restMilliseconds, alarm.signal)
    }
  })()

  return {
    async stop() {
      stopHearing()
      stopped.abort()
      wake()
      await running
      const parting = setTimeout(() => cut.abort(), partingMilliseconds)
      await Promise.all(underWay.keys())
      clearTimeout(parting)
    },
  }
}

/** The apps that have as many under way as one may have. */
function busyOf(clientIds: string[]): string[] {
  const counted = Object.entries(Object.groupBy(clientIds, (clientId) => clientId))
  return counted.flatMap(([clientId, own = []]) => (own.length < underWayOfAppMax ? [] : [clientId]))
}

/**
 * Attempts a delivery, and takes it out of the queue when the app has accepted it (200, 204), has refused it for good
 * (400; Back-Channel Logout §2.8), or after the last attempt. What is cut off is given back: it may have arrived.
 */
async function deliver({ kernel, keys }: Provider, claimed: ClaimedLogout, cut: AbortSignal): Promise<void> {
  const { db, clock, log, telemetry } = kernel
  const { clientId, logoutId, attempt, url, algorithm, appStatus } = claimed
  // The app is gone, or does not want to know any more.
  if (url === null || algorithm === null) return deleteLogout(db, claimed)
  const sendable = { ...claimed, url, algorithm }
  const { status, reason, retryAfter } =
    appStatus === 'active'
      ? await attemptOnce({ kernel, keys }, sendable, cut)
      : { status: null, reason: 'app_disabled', retryAfter: undefined }
  const now = clock()
  if (status === null && cut.aborted) return postponeLogout(db, claimed, { dueAt: now, attempts: attempt - 1 })
  if (status !== null && status >= 200 && status < 300) {
    telemetry.logoutAttempted('delivered')
    return deleteLogout(db, claimed)
  }
  const seconds = status === 400 ? undefined : restAfter(attempt, retryAfter, now)
  if (seconds !== undefined) {
    telemetry.logoutAttempted('put_off')
    return postponeLogout(db, claimed, { dueAt: secondsAfter(now, seconds), attempts: attempt })
  }
  telemetry.logoutAttempted('given_up')
  log.warn({ clientId, logoutId, status, reason }, 'a logout token was given up')
  return deleteLogout(db, claimed)
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
