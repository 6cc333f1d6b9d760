/** Complete groups of four, and a last one whose unused bits are zero (RFC 4648 §3.5). */
const canonical = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?$/

/** Decodes canonical, padded base64 (RFC 4648 §4); returns undefined for any other spelling of the same bytes. */
export function fromCanonicalBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!canonical.test(text)) return undefined
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = characters.charCodeAt(index)
  return bytes
}

/**
 * Decodes base64 of exactly this many bytes. Use it for text without a limit: the expression above would exhaust the
 * stack with megabytes.
 */
export function fromCanonicalBase64Of(byteLength: number, text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length !== Math.ceil(byteLength / 3) * 4) return undefined
  const bytes = fromCanonicalBase64(text)
  return bytes?.length === byteLength ? bytes : undefined
}

/** Decodes base64url without padding (RFC 4648 §5, RFC 7515 §2), with the same strictness. */
export function fromCanonicalBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]*$/.test(text)) return undefined
  const padding = '='.repeat((4 - (text.length % 4)) % 4)
  return fromCanonicalBase64(text.replaceAll('-', '+').replaceAll('_', '/') + padding)
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
