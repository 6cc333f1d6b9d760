import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOf, momentOf } from '../dates.ts'

const now = new Date(2026, 10, 21, 0, 30)
const at = (day: number, hour: number) => new Date(2026, 10, day, hour).toISOString()

test('a day is told as people say it', () => {
  assert.equal(dayOf(at(21, 0), 'en', now), 'today')
  assert.equal(dayOf(at(20, 23), 'en', now), 'yesterday')
  assert.equal(dayOf(at(20, 1), 'de', now), 'gestern')
  assert.equal(dayOf(at(19, 23), 'en', now), 'Nov 19, 2026')
  assert.equal(dayOf(at(19, 23), 'de', now), '19.11.2026')
})

test('a moment is said to the minute, in the time of the place', () => {
  const moment = new Date(2026, 10, 21, 8, 5).toISOString()
  assert.match(momentOf(moment, 'en'), /^Nov 21, 2026, 8:05\sAM$/)
  assert.equal(momentOf(moment, 'de'), '21.11.2026, 08:05')
})
