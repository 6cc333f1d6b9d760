/** Returns the first locale of the browser in a language, with its region, or the language. */
export function localeOf(language: string): string {
  const isOfLanguage = (tag: string) => tag.toLowerCase().split('-')[0] === language
  return globalThis.navigator?.languages?.find(isOfLanguage) ?? language
}

/** Formats how long to wait before the next attempt, rounded up: “3 seconds”, “20 minutes”, “2 hours”. */
export function formatWait(seconds: number, language: string): string {
  const minutes = Math.ceil(seconds / 60)
  const [unit, count] =
    seconds < 60 ? ['second', seconds] : minutes < 120 ? ['minute', minutes] : ['hour', Math.ceil(minutes / 60)]
  return new Intl.NumberFormat(localeOf(language), { style: 'unit', unit, unitDisplay: 'long' }).format(count)
}
