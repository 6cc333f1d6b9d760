import { limits } from '@countersign/protocol/formats/limits'
import { secondsAfter } from '#platform/clock.ts'
import { transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { Unreachable } from '#platform/outbound/fetch.ts'
import { rest } from '#platform/rest.ts'
import { restAfter } from '#platform/queue/back-off.ts'
import { onBell } from './bell.ts'
import { disableWebhook } from './endpoint.ts'
import { signedHeaders } from './secret.ts'
import * as claimStore from './claim-store.ts'
import type { Claimed } from './claim-store.ts'
import { startLaneSender, type Sender } from '#platform/queue/lane-sender.ts'
import * as store from './store.ts'
import type { Outcome } from './store.ts'

export type { Sender } from '#platform/queue/lane-sender.ts'

/** Longer than an attempt may take: whoever has not settled one by then is gone. */
const leaseSeconds = limits.webhookAnswerSeconds + 20
const gone = 410
/** A failure is known no sooner: by how fast it comes, nobody tells apart the addresses that were tried. */
const failureMilliseconds = 1000

/**
 * Sends what is due, in each process of the service. A delivery is taken by one of them for the length of a lease; if
 * that process ends, another takes it over. So a receiver hears everything at least once, under the same id.
 */
export function startSender(kernel: Kernel): Sender {
  const { db } = kernel
  return startLaneSender(kernel, {
    one: 'a webhook',
    several: 'webhooks',
    onBell,
    claim: (claim) => claimStore.claimDue(db, { ...claim, leaseEndsAt: secondsAfter(claim.now, leaseSeconds) }),
    idOf: ({ deliveryId }) => deliveryId,
    attempt: (claimed, cut) => deliver(kernel, claimed, cut),
    setSlow: (clientId, slowUntil) => claimStore.setSlow(db, clientId, slowUntil),
  })
}

/**
 * Attempts a delivery, and writes down what became of it: whether the receiver has taken it, where that says something
 * about the receiver. What is cut off is given back: it may have arrived.
 */
async function deliver(kernel: Kernel, claimed: Claimed, cut: AbortSignal): Promise<'taken' | 'not taken' | undefined> {
  const { db, clock, log, telemetry } = kernel
  const { clientId, deliveryId, attempt } = claimed
  const { retryAfter, ...outcome } = await attemptOnce(kernel, claimed, cut)
  const now = clock()
  if (outcome.status === null && cut.aborted) {
    await store.handBack(db, claimed, now)
    return undefined
  }

  const { status } = outcome
  if (status !== null && status >= 200 && status < 300) {
    telemetry.webhookAttempted('delivered')
    await store.settleAttempt(db, claimed, outcome, { state: 'delivered', dueAt: null })
    return 'taken'
  }
  if (status === gone) {
    telemetry.webhookAttempted('gone')
    await transaction(db, async (tx) => {
      await store.settleAttempt(tx, claimed, outcome, { state: 'failed', dueAt: null })
      await disableWebhook(tx, clientId, claimed.url, now)
    })
    return undefined
  }

  const seconds = restAfter(attempt, retryAfter, now)
  telemetry.webhookAttempted(seconds === undefined ? 'given_up' : 'put_off')
  if (seconds === undefined)
    log.warn({ clientId, deliveryId, status, reason: outcome.reason }, 'a webhook was given up')
  const dueAt = seconds === undefined ? null : secondsAfter(now, seconds)
  await store.settleAttempt(db, claimed, outcome, { state: dueAt ? 'waiting' : 'failed', dueAt })
  return outcome.reason !== null && ours.includes(outcome.reason) ? undefined : 'not taken'
}

/** Reasons why nothing was sent that are not the receiver's. */
const ours = ['app_disabled', 'not_signed']

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
