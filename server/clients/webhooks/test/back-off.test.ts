import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextRetryDelay } from '#platform/queue/back-off.ts'

const now = new Date('2030-01-01T12:00:00Z')

function assertRest(attempt: number, retryAfter: string | undefined, seconds: number): void {
  const rest = nextRetryDelay(attempt, retryAfter, now) ?? 0
  assert.ok(rest >= seconds && rest <= seconds * 1.2, `${retryAfter}: ${rest}`)
}

test('a receiver that sends Retry-After gets no request before that time', () => {
  assertRest(1, '120', 120)
  assertRest(1, 'Tue, 01 Jan 2030 12:10:00 GMT', 600)
  assertRest(2, '299', 300)
})

test('WHK-13 Retry-After of a receiver can neither shorten nor endlessly extend the delay', () => {
  for (const soon of ['0', '1', 'Tue, 01 Jan 2030 11:00:00 GMT', '-5', '1.5', 'soon', '', undefined])
    assertRest(2, soon, 300)
  for (const late of ['86401', '9'.repeat(400), 'Tue, 01 Jan 2999 12:00:00 GMT']) assertRest(1, late, 86_400)
  assert.equal(nextRetryDelay(10, '5', now), undefined)
})
