import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WebhookAttempt, WebhookDelivery, WebhookFault } from '@countersign/protocol/clients/webhooks'
import { developerEn as words } from '../../../../locales/developer-en.ts'
import { outcomeOf } from '../outcome.ts'

const now = new Date('2030-01-01T12:00:00Z')
const later = '2030-01-01T14:00:00.000Z'

function told(
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
  return outcomeOf(delivery, { words, language: 'en', now })
}

test('what has arrived needs no more words, however often it was tried', () => {
  assert.equal(told('delivered', null, 500, 204), 'Delivered.')
})

test('what waits says why, and until when', () => {
  assert.equal(told('waiting', later), 'On its way.')
  assert.match(told('waiting', later, 503), /^Your server answered 503\. Next try: .*2030/)
  assert.match(told('waiting', later, 'timed_out'), /^No answer in ten seconds\. Next try/)
  assert.match(told('waiting', later, 'could_not_connect'), /^We could not connect to it\. Next try/)
  assert.equal(told('waiting', now.toISOString(), 410), 'Your server answered 410. On its way.')
})

test('what was given up says why, where that is known', () => {
  assert.equal(told('failed', null, 500, 410), 'Your server answered 410. Given up.')
  assert.equal(told('failed', null), 'Given up.')
})
