/**
 * Checks that a text is an instant in UTC, in the one spelling of ECMAScript, so that it compares as text. Accepts
 * years of four digits alone: midnight has two spellings in ISO 8601, and longer years compare otherwise.
 */
export function isCanonicalInstant(text: string): boolean {
  const milliseconds = Date.parse(text)
  return text.length === 24 && !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString() === text
}
