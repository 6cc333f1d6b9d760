export type DayPart = 'morning' | 'afternoon' | 'evening'

/** Returns the part of the day for a greeting, by the clock of the user. A night belongs to the evening before. */
export function dayPart(now: Date): DayPart {
  const hour = now.getHours()
  if (hour >= 5 && hour < 12) return 'morning'
  return hour >= 12 && hour < 18 ? 'afternoon' : 'evening'
}
