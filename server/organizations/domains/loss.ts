import { addSeconds } from '#platform/clock.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { nextRetryDelay } from '#platform/queue/back-off.ts'
import { domainUnverifiedMail, takenMail } from './domain-mails.ts'
import { notifyOwners } from './domain-notice.ts'
import * as store from './loss-store.ts'

const countMax = 40
/** Exceeds the time that the mails about a loss take. */
const leaseSeconds = 600

const letters = { taken: takenMail, expired: domainUnverifiedMail }

/** Mails the owners of organizations that have lost a domain. Only one process mails about each loss. */
export async function notifyOfLosses(kernel: ServerContext, now: Date): Promise<void> {
  const until = addSeconds(now, leaseSeconds)
  const due = await store.leaseLosses(kernel.db, { count: countMax, until }, now)
  await Promise.all(due.map((loss) => notifyOfLoss(kernel, loss, until, now)))
}

/**
 * Mails those who are owners now, unless the domain was verified again. Mails that fail for now are attempted again, up
 * to ten times in about three days.
 */
async function notifyOfLoss(kernel: ServerContext, loss: store.Loss, until: Date, now: Date): Promise<void> {
  const { cause, attempts, settledIds, verifiedAt } = loss
  const outcomes = verifiedAt ? [] : await notifyOwners(kernel, loss, letters[cause], settledIds)
  const isUnsent = outcomes.some(({ outcome }) => outcome === 'unsent')
  const delay = isUnsent ? nextRetryDelay(attempts, undefined, now) : undefined
  if (delay === undefined) return store.deleteLoss(kernel.db, { ...loss, until })
  const settled = outcomes.filter(({ outcome }) => outcome !== 'unsent').map(({ identityId }) => identityId)
  const next = { mailAt: addSeconds(now, delay), settledIds: [...settledIds, ...settled] }
  await store.postponeLoss(kernel.db, { ...loss, until }, next)
}
