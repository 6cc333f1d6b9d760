import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCountdown, secondsLeft } from '../TimeLeft.tsx'

test('the time left is counted from when the server wrote the page', () => {
  const [servedAt, expiresAt] = ['2026-11-21T14:00:00.000Z', '2026-11-21T14:05:00.000Z']
  assert.equal(secondsLeft(expiresAt, servedAt, 0), 300)
  assert.equal(secondsLeft(expiresAt, servedAt, 500), 300)
  assert.equal(secondsLeft(expiresAt, servedAt, 299_001), 1)
  assert.equal(secondsLeft(expiresAt, servedAt, 300_000), 0)
  assert.equal(secondsLeft(expiresAt, servedAt, 400_000), 0)
})

test('it is shown as on a clock', () => {
  assert.deepEqual([0, 9, 60, 299, 3599].map(formatCountdown), ['00:00', '00:09', '01:00', '04:59', '59:59'])
})
