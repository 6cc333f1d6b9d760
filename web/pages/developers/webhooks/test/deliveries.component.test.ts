import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WebhookAttempt, WebhookDelivery, WebhookFault } from '@countersign/protocol/clients/webhooks'
import { developerMessages as words } from '../../../../locales/en/pages/developers.ts'
import { deliveryStatusText } from '../Deliveries.tsx'

const now = new Date('2030-01-01T12:00:00Z')
const later = '2030-01-01T14:00:00.000Z'

function statusText(
  state: WebhookDelivery['state'],
  nextAttemptAt: string | null,
  ...ends: (number | WebhookFault)[]
): string {
  const attempts = ends.map((end): WebhookAttempt => {
    const at = now.toISOString()
    return typeof end === 'number' ? { at, status: end, reason: null } : { at, status: null, reason: end }
  })
  const delivery = {
    deliveryId: 'a',
    type: 'signing.signed',
    state,
    createdAt: now.toISOString(),
    nextAttemptAt,
    attempts,
  }
  return deliveryStatusText(delivery, { words, language: 'en', now })
}

test('what has arrived needs no more words, however often it was tried', () => {
  assert.equal(statusText('delivered', null, 500, 204), 'Delivered.')
})

test('what waits says why, and until when', () => {
  assert.equal(statusText('pending', later), 'Pending.')
  assert.match(statusText('pending', later, 503), /^Response: HTTP 503\. Next attempt: .*2030/)
  assert.match(statusText('pending', later, 'timed_out'), /^No response within ten seconds\. Next attempt/)
  assert.match(statusText('pending', later, 'could_not_connect'), /^Couldn’t connect to your server\. Next attempt/)
  assert.equal(statusText('pending', now.toISOString(), 410), 'Response: HTTP 410. Pending.')
})

test('what was given up says why, where that is known', () => {
  assert.equal(statusText('failed', null, 500, 410), 'Response: HTTP 410. Failed, no more attempts.')
  assert.equal(statusText('failed', null), 'Failed, no more attempts.')
})
