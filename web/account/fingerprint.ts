/** What people compare of a public key (base64): the SHA-256 of its bytes, its first half, in groups of four digits. */
export async function fingerprintOf(publicKey: string): Promise<string> {
  const bytes = Uint8Array.from(atob(publicKey), (character) => character.charCodeAt(0))
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).subarray(0, 16)
  const digits = [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.match(/.{4}/g)?.join(' ') ?? ''
}
