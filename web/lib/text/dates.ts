import { localeOf } from '../../locales/locale.ts'

/** Number of milliseconds of a minute, an hour and a day. */
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Formats a day: today, yesterday, then the date. */
export function dayOf(instant: string, language: string, now: Date): string {
  const then = new Date(instant)
  const ago = daysBetween(then, now)
  const locale = localeOf(language)
  if (ago === 0 || ago === 1) return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(-ago, 'day')
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }).format(then)
}

/** Formats a moment to the minute, in the time zone of the user. */
export function momentOf(instant: string, language: string): string {
  return new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(instant),
  )
}

/** Formats a day as a heading: “Today”, “Yesterday”, then the weekday and the date, with the year of other years. */
export function formatDay(instant: string, language: string, now: Date): string {
  const then = new Date(instant)
  const ago = daysBetween(then, now)
  const locale = localeOf(language)
  if (ago === 0 || ago === 1) return capitalized(dayOf(instant, language, now), locale)
  return formatDate(instant, language, now)
}

/** Formats a day that stands alone, as in a table: “Today”, “Yesterday”, then the date. */
export function formatDayAlone(instant: string, language: string, now: Date): string {
  return capitalized(dayOf(instant, language, now), localeOf(language))
}

/** Formats a day with its weekday, and with the year unless it is the current one. */
export function formatDate(instant: string, language: string, now: Date): string {
  const then = new Date(instant)
  const year = then.getFullYear() === now.getFullYear() ? undefined : 'numeric'
  return new Intl.DateTimeFormat(localeOf(language), { weekday: 'long', day: 'numeric', month: 'long', year }).format(
    then,
  )
}

/** Formats the time of day. */
export function formatTime(instant: string, language: string): string {
  return new Intl.DateTimeFormat(localeOf(language), { timeStyle: 'short' }).format(new Date(instant))
}

/** Formats a moment of which the day matters most: “Today, 13:41”, “Yesterday, 09:12”, then the date and the time. */
export function formatMoment(instant: string, language: string, now: Date): string {
  return capitalized(formatMomentInSentence(instant, language, now), localeOf(language))
}

/** Formats such a moment for the middle of a sentence: “today, 13:41”. */
export function formatMomentInSentence(instant: string, language: string, now: Date): string {
  const ago = daysBetween(new Date(instant), now)
  if (ago !== 0 && ago !== 1) return momentOf(instant, language)
  return [dayOf(instant, language, now), formatTime(instant, language)].join(separatorOf(localeOf(language)))
}

/** Formats how long ago something was: “now”, “2 min. ago”, “3 hr. ago”, then like a day. */
export function formatAgo(instant: string, language: string, now: Date): string {
  const passed = now.getTime() - new Date(instant).getTime()
  if (passed >= day) return dayOf(instant, language, now)
  const relative = new Intl.RelativeTimeFormat(localeOf(language), { numeric: 'auto', style: 'short' })
  if (passed < minute) return relative.format(0, 'second')
  return passed < hour
    ? relative.format(-Math.floor(passed / minute), 'minute')
    : relative.format(-Math.floor(passed / hour), 'hour')
}

/** Formats how long something still lasts: “9 minutes”, “2 days”. */
export function formatDuration(milliseconds: number, language: string): string {
  const [count, unit] =
    milliseconds < hour
      ? [Math.max(1, Math.floor(milliseconds / minute)), 'minute']
      : milliseconds < day
        ? [Math.floor(milliseconds / hour), 'hour']
        : [Math.floor(milliseconds / day), 'day']
  return new Intl.NumberFormat(localeOf(language), { style: 'unit', unit, unitDisplay: 'long' }).format(count)
}

/** Formats a number in the digits of the user: those of the dates on the page, which differ between Arab countries. */
export function formatNumber(value: number): string {
  return new Intl.NumberFormat(localeOf(globalThis.document?.documentElement.lang || 'en')).format(value)
}

/** Returns whether two instants are on the same day for the user. */
export function isSameDay(one: string, other: string): boolean {
  return midnight(new Date(one)) === midnight(new Date(other))
}

function daysBetween(then: Date, now: Date): number {
  return Math.round((midnight(now) - midnight(then)) / day)
}

function midnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
}

function capitalized(text: string, locale: string): string {
  const [first = '', ...rest] = text
  return first.toLocaleUpperCase(locale) + rest.join('')
}

/** Returns what stands between a date and a time in a locale. */
function separatorOf(locale: string): string {
  const parts = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).formatToParts(0)
  const at = parts.findIndex(({ type }) => type === 'hour')
  const before = parts[at - 1]
  return before?.type === 'literal' ? before.value : ' '
}

/** Parses a whole number in European or Arabic digits, which may be grouped. Returns undefined for other text. */
export function parseWholeNumber(text: string): number | undefined {
  const written = text.trim().replaceAll(/[\u0660-\u0669\u06F0-\u06F9]/g, (digit) => String(digit.charCodeAt(0) % 16))
  const digits = /^(?:\d+|\d{1,3}(?:[.,\u066C\s]\d{3})+)$/.test(written) ? written.replaceAll(/\D/g, '') : ''
  return digits === '' ? undefined : Number(digits)
}

/** Parses digits in any grouping. Returns undefined unless there are exactly `count` digits. */
export function parseDigits(text: string, count: number): string | undefined {
  const digits = text.replaceAll(/[\s-]/g, '')
  return digits.length === count && /^\d*$/.test(digits) ? digits : undefined
}
