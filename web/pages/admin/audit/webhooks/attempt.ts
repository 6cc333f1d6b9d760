import type { WebhookAttempt } from '@countersign/protocol/clients/webhooks'
import type { adminWebhooksMessages } from '../../../../locales/en/pages/admin/receivers/webhooks.ts'

/** Returns why an attempt failed, or undefined if the receiver accepted the event. */
export function faultOf(
  { status, reason }: Pick<WebhookAttempt, 'status' | 'reason'>,
  { answered, faults }: Pick<typeof adminWebhooksMessages, 'answered' | 'faults'>,
): string | undefined {
  if (status === null) return faults[reason ?? 'could_not_connect']
  return status >= 200 && status < 300 ? undefined : answered(status)
}
