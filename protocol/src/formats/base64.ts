/** Characters with padding. A loop over groups of four would exhaust the stack for megabytes of text. */
const characters = /^[A-Za-z0-9+/]*={0,2}$/

/** End of a text whose last group is complete, or has unused bits that are zero (RFC 4648 §3.5). */
const canonicalEnd = /(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)$/

/** Decodes canonical, padded base64 (RFC 4648 §4); returns undefined for any other spelling of the same bytes. */
export function fromCanonicalBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0 || !characters.test(text)) return undefined
  if (text !== '' && !canonicalEnd.test(text.slice(-4))) return undefined
  const decoded = atob(text)
  const bytes = new Uint8Array(decoded.length)
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = decoded.charCodeAt(index)
  return bytes
}

/** Decodes canonical base64 of exactly this many bytes. Refuses a text of another length without reading it. */
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
