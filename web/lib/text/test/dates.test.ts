import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { dayOf, formatAgo, formatDay, formatDuration, formatMoment, formatTime, isSameDay, momentOf } from '../dates.ts'

const { languages } = navigator
const speak = (...tags: string[]) => Object.defineProperty(navigator, 'languages', { value: tags, configurable: true })
afterEach(() => speak(...languages))

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

test('dates have the form of the region that the browser is set to', () => {
  speak('fr-FR', 'en-GB', 'de-AT')
  assert.equal(dayOf(at(19, 23), 'en', now), '19 Nov 2026')
  assert.equal(momentOf(new Date(2026, 10, 21, 18, 5).toISOString(), 'en'), '21 Nov 2026, 18:05')
  assert.equal(formatTime(at(19, 23), 'en'), '23:00')
})

test('a list has the days as headings, and other years are named', () => {
  speak('en-GB')
  assert.equal(formatDay(at(21, 0), 'en', now), 'Today')
  assert.equal(formatDay(at(20, 23), 'en', now), 'Yesterday')
  assert.equal(formatDay(at(19, 23), 'en', now), 'Thursday 19 November')
  assert.equal(formatDay(new Date(2025, 2, 4).toISOString(), 'en', now), 'Tuesday, 4 March 2025')
})

test('a moment of today is said with the time, and an older one with the date', () => {
  speak('en-GB', 'de-DE')
  assert.equal(formatMoment(at(21, 0), 'en', now), 'Today, 00:00')
  assert.equal(formatMoment(at(20, 9), 'de', now), 'Gestern, 09:00')
  assert.equal(formatMoment(at(3, 9), 'en', now), '3 Nov 2026, 09:00')
})

test('what was just now is said by how long ago it was', () => {
  speak('en-GB')
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString()
  assert.equal(formatAgo(ago(20), 'en', now), 'now')
  assert.match(formatAgo(ago(150), 'en', now), /^2 min\.? ago$/)
  assert.match(formatAgo(ago(3 * 3600), 'en', now), /^3 hr\.? ago$/)
  assert.equal(formatAgo(at(19, 0), 'en', now), '19 Nov 2026')
  assert.equal(formatDuration(9.5 * 60_000, 'en'), '9 minutes')
  assert.equal(formatDuration(2 * 24 * 3600_000, 'de'), '2 Tage')
})

test('days are those of the user', () => {
  assert.ok(isSameDay(at(21, 0), at(21, 23)))
  assert.ok(!isSameDay(at(20, 23), at(21, 0)))
})
