/** Patterns of the last character by the length of the last group, if its unused bits are zero (RFC 4648 §3.5). */
const lastCharacters: Record<number, RegExp> = { 0: /$/, 2: /[AQgw]$/, 3: /[AEIMQUYcgkosw048]$/ }

/**
 * Checks that a text has the form of a compact JWE without an encrypted key (RFC 7516 §7.1), in unpadded base64url
 * without spare bits (RFC 7515 §2). Runtimes decode less strictly. With this check a JWE has one spelling, and changing
 * any character breaks it.
 */
export function isCompactJwe(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 5 && parts[1] === '' && parts.every(isBase64Url)
}

/** Checks base64url of any length. The expression does not backtrack, which would overflow the stack. */
function isBase64Url(text: string): boolean {
  return !/[^\w-]/.test(text) && (lastCharacters[text.length % 4]?.test(text.slice(-1)) ?? false)
}
