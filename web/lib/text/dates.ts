/** Formats a day: today, yesterday, then the date. */
export function dayOf(instant: string, language: string, now: Date): string {
  const day = new Date(instant)
  const daysAgo = Math.round((midnight(now) - midnight(day)) / (24 * 3600 * 1000))
  if (daysAgo === 0 || daysAgo === 1)
    return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(-daysAgo, 'day')
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium' }).format(day)
}

/** Formats a moment to the minute, in the time zone of the user. */
export function momentOf(instant: string, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(instant))
}

function midnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
}

/** Parses digits in any grouping. Returns undefined unless there are exactly `count` digits. */
export function parseDigits(text: string, count: number): string | undefined {
  const digits = text.replaceAll(/[\s-]/g, '')
  return digits.length === count && /^\d*$/.test(digits) ? digits : undefined
}
