import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WebhookAttempt, WebhookDelivery, WebhookFault } from '@countersign/protocol/clients/webhooks'
import { h } from 'preact'
import { developerMessages as words } from '../../../../locales/en/pages/developers.ts'
import { renderInPage } from '../../../../testing/render.ts'

const { Deliveries, deliveryStatusText } = await import('../Deliveries.tsx')

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

test('each button that sends a delivery again names the event and its time', async () => {
  const deliveries = ['2030-01-01T09:05:00.000Z', '2030-01-01T10:07:00.000Z'].map((createdAt): WebhookDelivery => {
    return {
      deliveryId: createdAt,
      type: 'signing.signed',
      state: 'failed',
      createdAt,
      nextAttemptAt: null,
      attempts: [],
    }
  })
  const dates = { createdAt: later, updatedAt: later }
  const webhook = { url: 'https://app.example/events', status: 'active', ...dates } as const
  const of = { webhook, deliveries, hasMore: false }
  await renderInPage(() => h(Deliveries, { clientId: 'app', of, onSentAgain: async () => {}, onMore: undefined }))
  const names = [...document.querySelectorAll('[data-action="send-again"]')].map(({ textContent }) => textContent)
  assert.equal(new Set(names).size, 2, names.join(', '))
  for (const name of names) assert.match(name, /^Redeliver · signing\.signed · .*2030/)
})
