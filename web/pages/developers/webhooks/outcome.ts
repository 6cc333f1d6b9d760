import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { momentOf } from '../../../lib/text/dates.ts'
import type { DeveloperWords } from '../words.ts'

type Speech = { words: Pick<DeveloperWords, 'webhook'>; language: string; now: Date }

/** What became of a delivery, and what comes next, in a sentence or two. */
export function outcomeOf({ state, attempts, nextAttemptAt }: WebhookDelivery, { words, language, now }: Speech) {
  const { delivered, onItsWay, nextTry, givenUp, answered, reasons } = words.webhook
  if (state === 'delivered') return delivered
  const last = attempts.at(-1)
  if (!last) return state === 'failed' ? givenUp : onItsWay
  const fault = last.status === null ? reasons[last.reason ?? 'could_not_connect'] : answered(last.status)
  if (state === 'failed') return `${fault} ${givenUp}`
  const isDue = nextAttemptAt === null || new Date(nextAttemptAt) <= now
  return `${fault} ${isDue ? onItsWay : nextTry(momentOf(nextAttemptAt, language))}`
}
