/** Number of characters at the beginning of a text that are enough for its title. */
export const beginningCharacters = 400

/** Returns the first line that is not blank, shortened; empty if there is none near the beginning of the text. */
export function titleOf(beginning: string, charactersMax: number): string {
  const line = beginning.split(/[\r\n\u2028\u2029]/).find((each) => each.trim() !== '') ?? ''
  const characters = [...line.trim()]
  return characters.length <= charactersMax ? line.trim() : `${characters.slice(0, charactersMax).join('')}…`
}
