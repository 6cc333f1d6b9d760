import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restAfter } from '#platform/queue/back-off.ts'

const now = new Date('2030-01-01T12:00:00Z')

function assertRest(attempt: number, retryAfter: string | undefined, seconds: number): void {
  const rest = restAfter(attempt, retryAfter, now) ?? 0
  assert.ok(rest >= seconds && rest <= seconds * 1.2, `${retryAfter}: ${rest}`)
}

test('a receiver that says when to come back is left alone until then', () => {
  assertRest(1, '120', 120)
  assertRest(1, 'Tue, 01 Jan 2030 12:10:00 GMT', 600)
  assertRest(2, '299', 300)
})

test('WHK-13 a receiver neither hastens us nor puts us off for ever, whatever it says', () => {
  for (const soon of ['0', '1', 'Tue, 01 Jan 2030 11:00:00 GMT', '-5', '1.5', 'soon', '', undefined])
    assertRest(2, soon, 300)
  for (const late of ['86401', '9'.repeat(400), 'Tue, 01 Jan 2999 12:00:00 GMT']) assertRest(1, late, 86_400)
  assert.equal(restAfter(10, '5', now), undefined)
})
