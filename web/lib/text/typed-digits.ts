/** The digits that somebody typed, however they group them; undefined where these are not so many, or none. */
export function readDigits(text: string, count: number): string | undefined {
  const digits = text.replaceAll(/[\s-]/g, '')
  return digits.length === count && /^\d*$/.test(digits) ? digits : undefined
}
