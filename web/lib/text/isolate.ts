const begin = '\u2068'
const end = '\u2069'

/**
 * Returns a name that keeps its own direction within a sentence, whatever the direction of the sentence is (UAX #9).
 * Characters of the name that would end the isolation are removed.
 */
export function isolate(name: string): string {
  return `${begin}${name.replaceAll(/[\u2066-\u2069\u202A-\u202E]/g, '')}${end}`
}
