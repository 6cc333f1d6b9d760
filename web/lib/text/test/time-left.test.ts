import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeLeft, timeLeftUntil } from '../time-left.ts'

test('the time that is left is written in its largest unit, and never as nothing', () => {
  assert.deepEqual(
    [0, 59, 60, 3599, 3600, 24 * 3600 - 1, 49 * 3600].map((seconds) => timeLeft(seconds, 'en')),
    ['1 minute', '1 minute', '1 minute', '59 minutes', '1 hour', '23 hours', '2 days'],
  )
  const now = new Date('2030-01-01T12:00:00Z')
  assert.equal(timeLeftUntil('2030-01-01T14:00:00Z', 'de', now), '2 Stunden')
})
