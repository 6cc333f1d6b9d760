/** Returns the different words of a text, which spaces or commas separate. */
export function wordsOf(written: string): string[] {
  return [...new Set(written.split(/[\s,]+/).filter((word) => word !== ''))]
}
