import { localeOf } from '../../locales/locale.ts'

const units = [
  ['day', 24 * 3600],
  ['hour', 3600],
  ['minute', 60],
] as const

/** Formats how much time is left, in its largest unit: `2 days`; at least one minute. */
export function timeLeft(leftSeconds: number, language: string): string {
  const seconds = Math.max(leftSeconds, 60)
  const [unit, length] = units.find(([, each]) => seconds >= each) ?? units[2]
  const format = new Intl.NumberFormat(localeOf(language), { style: 'unit', unit, unitDisplay: 'long' })
  return format.format(Math.floor(seconds / length))
}

/** Formats how much time is left until an instant. */
export function timeLeftUntil(until: string, language: string, now: Date): string {
  return timeLeft((Date.parse(until) - now.getTime()) / 1000, language)
}
