/** Returns the URLs in a text without duplicates. A URL contains no white space. */
export function parseUrlList(text: string): string[] {
  return [...new Set(text.split(/\s+/).filter((line) => line !== ''))]
}
