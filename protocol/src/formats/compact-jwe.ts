/** What the last character may be where a last group has so many, if its unused bits are zero (RFC 4648 §3.5). */
const lastCharacters: Record<number, RegExp> = { 0: /$/, 2: /[AQgw]$/, 3: /[AEIMQUYcgkosw048]$/ }

/**
 * Whether a text is written as a compact JWE without an encrypted key (RFC 7516 §7.1), in unpadded base64url without
 * spare bits (RFC 7515 §2). Decoders of runtimes are laxer than that; with this check such a JWE has one spelling, and
 * whatever alters a character of it breaks it.
 */
export function isCompactJwe(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 5 && parts[1] === '' && parts.every(isBase64Url)
}

/** Content may have any length: no expression here steps back, for which it would run out of stack. */
function isBase64Url(text: string): boolean {
  return !/[^\w-]/.test(text) && (lastCharacters[text.length % 4]?.test(text.slice(-1)) ?? false)
}
