import { limits } from '@countersign/protocol/formats/limits'
import { secondsAfter } from '#kernel/clock.ts'
import { transaction } from '#kernel/database.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { Unreachable } from '#kernel/outbound.ts'
import { rest } from '#kernel/rest.ts'
import { restAfter } from './back-off.ts'
import { onBell } from './bell.ts'
import { disableWebhook } from './endpoint.ts'
import { signedHeaders } from './secret.ts'
import { claimDue, handBack, settleAttempt, type Claimed, type Outcome } from './store.ts'

export type Sender = { stop: () => Promise<void> }

const underWayMax = 16
/** Of one app: one that answers slowly must not take up all of them. */
const underWayOfAppMax = 4
/** Longer than an attempt may take: whoever has not settled one by then is gone. */
const leaseSeconds = limits.webhookAnswerSeconds + 20
const restMilliseconds = 2000
const partingMilliseconds = 2000
const gone = 410
/** A failure is known no sooner: by how fast it comes, nobody tells apart the addresses that were tried. */
const failureMilliseconds = 1000

/**
 * Sends what is due, in each process of the service. A delivery is taken by one of them for the length of a lease; if
 * that process ends, another takes it over. So a receiver hears everything at least once, under the same id.
 */
export function startSender(kernel: Kernel): Sender {
  const { db, clock, log } = kernel
  const stopped = new AbortController()
  const cut = new AbortController()
  const underWay = new Map<Promise<void>, string>()
  let alarm = new AbortController()
  const wake = () => alarm.abort()
  const stopHearing = onBell(wake)

  async function sendDue(): Promise<void> {
    const countMax = underWayMax - underWay.size
    if (countMax === 0) return
    const now = clock()
    const leaseEndsAt = secondsAfter(now, leaseSeconds)
    const busyClientIds = busyOf([...underWay.values()])
    const claimed = await claimDue(db, { now, leaseEndsAt, countMax, countOfAppMax: underWayOfAppMax, busyClientIds })
    for (const each of claimed) begin(each)
  }

  function begin(claimed: Claimed): void {
    const { clientId, deliveryId } = claimed
    const sending = deliver(kernel, claimed, cut.signal)
      .catch((error: unknown) => log.error({ error, clientId, deliveryId }, 'a webhook was not settled'))
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
        log.warn({ error }, 'webhooks could not be looked for')
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

/** Attempts a delivery, and writes down what became of it. What is cut off is given back: it may have arrived. */
async function deliver(kernel: Kernel, claimed: Claimed, cut: AbortSignal): Promise<void> {
  const { db, clock, log, telemetry } = kernel
  const { clientId, deliveryId, attempt } = claimed
  const { retryAfter, ...outcome } = await attemptOnce(kernel, claimed, cut)
  const now = clock()
  if (outcome.status === null && cut.aborted) return handBack(db, claimed, now)

  const { status } = outcome
  if (status !== null && status >= 200 && status < 300) {
    telemetry.webhookAttempted('delivered')
    return settleAttempt(db, claimed, outcome, { state: 'delivered', dueAt: null })
  }
  if (status === gone) {
    telemetry.webhookAttempted('gone')
    return transaction(db, async (tx) => {
      await settleAttempt(tx, claimed, outcome, { state: 'failed', dueAt: null })
      await disableWebhook(tx, clientId, claimed.url, now)
    })
  }

  const seconds = restAfter(attempt, retryAfter, now)
  if (seconds !== undefined) {
    telemetry.webhookAttempted('put_off')
    return settleAttempt(db, claimed, outcome, { state: 'waiting', dueAt: secondsAfter(now, seconds) })
  }
  telemetry.webhookAttempted('given_up')
  log.warn({ clientId, deliveryId, status, reason: outcome.reason }, 'a webhook was given up')
  return settleAttempt(db, claimed, outcome, { state: 'failed', dueAt: null })
}

type Attempted = Outcome & {
  /** As a receiver that is busy says it. */
  retryAfter?: string | undefined
}

async function attemptOnce(kernel: Kernel, claimed: Claimed, cut: AbortSignal): Promise<Attempted> {
  const { clock, keyring, outbound, log } = kernel
  const { url, payload, clientId } = claimed
  const at = clock()
  const unanswered = (reason: string) => ({ at, status: null, reason })
  if (claimed.appStatus !== 'active') return unanswered('app_disabled')

  const headers = await signedHeaders(keyring, claimed, at).catch((error: unknown) => {
    log.error({ error, clientId }, 'a webhook could not be signed')
  })
  if (!headers) return unanswered('not_signed')
  const began = performance.now()
  try {
    const sent = { headers, body: payload, withinMilliseconds: limits.webhookAnswerSeconds * 1000, signal: cut }
    return { at, ...(await outbound.post(url, sent)), reason: null }
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    log.info({ clientId, deliveryId: claimed.deliveryId, reason: error.reason }, 'webhook not delivered')
    await rest(Math.max(0, began + failureMilliseconds - performance.now()), cut)
    return unanswered(error.reason)
  }
}
