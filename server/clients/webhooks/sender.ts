import { limits } from '@countersign/protocol/formats/limits'
import { addSeconds, rest } from '#platform/clock.ts'
import { afterCommit, type Transaction, transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { OutboundError } from '#platform/outbound/fetch.ts'
import { nextRetryDelay } from '#platform/queue/back-off.ts'
import { createAppEventQueue } from './app-events.ts'
import { notifySender, onDeliveryEnqueued } from './delivery.ts'
import { disableWebhook } from './endpoint.ts'
import { signatureHeaders } from './secret.ts'
import * as claimStore from './claim-store.ts'
import type { ClaimedDelivery } from './claim-store.ts'
import { type Sender, startLaneSender } from '#platform/queue/lane-sender.ts'
import * as store from './store.ts'
import type { Next, Outcome } from './store.ts'

export type { Sender } from '#platform/queue/lane-sender.ts'

/** Longer than an attempt can take. After it, the process that claimed a delivery has ended. */
const leaseSeconds = limits.webhookAnswerSeconds + 20
const gone = 410
/** Minimum duration of a failure, so that its timing does not disclose which addresses were tried. */
const failureMilliseconds = 1000

/**
 * Sends due deliveries in each process of the service. A process leases a delivery; if it ends, another takes over. A
 * receiver therefore gets every event at least once, under the same ID.
 */
export function startSender(kernel: ServerContext): Sender {
  const { db } = kernel
  const appEvents = createAppEventQueue(db)
  return startLaneSender(kernel, {
    one: 'a webhook',
    several: 'webhooks',
    onEnqueued(wake) {
      const stops = [onDeliveryEnqueued(wake), appEvents.onEnqueued(wake)]
      return () => stops.forEach((stop) => stop())
    },
    async claim(claim) {
      await appEvents.enqueueDue(claim.now)
      return claimStore.claimDue(db, { ...claim, leaseEndsAt: addSeconds(claim.now, leaseSeconds) })
    },
    idOf: ({ deliveryId }) => deliveryId,
    attempt: (claimed, cut) => deliver(kernel, claimed, cut),
    setSlow: (receiverId, slowUntil) => claimStore.setSlow(db, receiverId, slowUntil),
  })
}

/**
 * Attempts a delivery and records the outcome. Returns whether the receiver accepted it, if the outcome says something
 * about the receiver. An attempt that was interrupted is released, because it may have arrived.
 */
async function deliver(
  kernel: ServerContext,
  claimed: ClaimedDelivery,
  cut: AbortSignal,
): Promise<'taken' | 'not taken' | undefined> {
  const { db, clock, log, telemetry } = kernel
  const { receiverId, deliveryId, attempt } = claimed
  const { retryAfter, ...outcome } = await attemptOnce(kernel, claimed, cut)
  const now = clock()
  if (outcome.status === null && cut.aborted) {
    await store.releaseDelivery(db, claimed, now)
    return undefined
  }

  const { status } = outcome
  if (status !== null && status >= 200 && status < 300) {
    telemetry.webhookAttempted('delivered')
    await store.recordAttempt(db, claimed, outcome, { state: 'delivered', nextAttemptAt: null })
    return 'taken'
  }
  if (status === gone) {
    const isMoved = await transaction(db, (tx) => recordGone(tx, claimed, outcome, now))
    telemetry.webhookAttempted(isMoved ? 'retry_scheduled' : 'endpoint_gone')
    return undefined
  }

  const seconds = nextRetryDelay(attempt, retryAfter, now)
  telemetry.webhookAttempted(seconds === undefined ? 'failed' : 'retry_scheduled')
  if (seconds === undefined)
    log.warn({ receiverId, deliveryId, status, reason: outcome.reason }, 'webhook delivery failed permanently')
  const nextAttemptAt = seconds === undefined ? null : addSeconds(now, seconds)
  await store.recordAttempt(db, claimed, outcome, { state: nextAttemptAt ? 'pending' : 'failed', nextAttemptAt })
  return outcome.reason !== null && ours.includes(outcome.reason) ? undefined : 'not taken'
}

/**
 * Disables a webhook whose receiver responded 410. If it has got another URL meanwhile, that one gets the delivery at
 * once. Returns whether it has.
 */
async function recordGone(tx: Transaction, claimed: ClaimedDelivery, outcome: Outcome, now: Date): Promise<boolean> {
  // In the order of everything that disables a webhook, which then locks its deliveries.
  const endpoint = await store.lockEndpoint(tx, claimed.receiverId)
  const isMoved = endpoint?.disabledAt === null && endpoint.url !== claimed.url
  const next: Next = isMoved ? { state: 'pending', nextAttemptAt: now } : { state: 'failed', nextAttemptAt: null }
  await store.recordAttempt(tx, claimed, outcome, next)
  if (isMoved) afterCommit(tx, notifySender)
  else await disableWebhook(tx, claimed.receiverId, claimed.url, now)
  return isMoved
}

/** Failure reasons that are not the receiver's. */
const ours = ['app_disabled', 'not_signed']

type AttemptResult = Outcome & {
  /** `Retry-After` header of a busy receiver. */
  retryAfter?: string | undefined
}

async function attemptOnce(kernel: ServerContext, claimed: ClaimedDelivery, cut: AbortSignal): Promise<AttemptResult> {
  const { clock, keyring, outbound, log } = kernel
  const { url, payload, receiverId, isOfOperator } = claimed
  const at = clock()
  const unanswered = (reason: string) => ({ at, status: null, reason })
  if (claimed.appStatus !== 'active') return unanswered('app_disabled')

  const headers = await signatureHeaders(keyring, claimed, at).catch((error: unknown) => {
    log.error({ error, receiverId }, 'webhook signing failed')
  })
  if (!headers) return unanswered('not_signed')
  const began = performance.now()
  try {
    const sent = { headers, body: payload, withinMilliseconds: limits.webhookAnswerSeconds * 1000, signal: cut }
    const client = isOfOperator ? outbound.ofOperator : outbound
    return { at, ...(await client.post(url, sent)), reason: null }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    log.info({ receiverId, deliveryId: claimed.deliveryId, reason: error.reason }, 'webhook delivery failed')
    await rest(Math.max(0, began + failureMilliseconds - performance.now()), cut)
    return unanswered(error.reason)
  }
}
