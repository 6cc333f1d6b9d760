/**
 * Derives bytes with HKDF-SHA-256 (RFC 5869) and an empty salt. The input secrets are uniform already, so `info` alone
 * separates their uses.
 */
export async function deriveBytes(secret: BufferSource, info: string): Promise<Uint8Array<ArrayBuffer>> {
  const source = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits'])
  return new Uint8Array(await crypto.subtle.deriveBits(parametersOf(info), source, 256))
}

/** Derives the same 32 bytes as a non-extractable AES-256-GCM key, which scripts never see. */
export async function deriveEnvelopeKey(secret: BufferSource, info: string): Promise<CryptoKey> {
  const source = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey'])
  const algorithm = { name: 'AES-GCM', length: 256 }
  return crypto.subtle.deriveKey(parametersOf(info), source, algorithm, false, ['encrypt', 'decrypt'])
}

function parametersOf(info: string) {
  return { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: new TextEncoder().encode(info) }
}
