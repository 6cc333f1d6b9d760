import { hash, timingSafeEqual } from 'node:crypto'

/** SHA-256 of a text's UTF-8 bytes, or of bytes. */
export function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer')
}

/** Whether two byte strings are equal, in a time that tells only whether their lengths are. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
