import { encode as toBase64Url } from 'jose/base64url'
import { deriveBytes } from './hkdf.ts'
import { KeyEncryptionKey } from './prf.ts'

const codeBytes = 20

/** Crockford's base32: without I, L and O, which are read as 1, 1 and 0, and without U. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Generates a recovery code of 160 random bits, in the form shown to users: 8 groups of 4 characters. */
export function generateRecoveryCode(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(codeBytes))
  const characters = regroup([...bytes], { from: 8, to: 5 }).map((value) => alphabet.charAt(value))
  return groupByFour(characters.join(''))
}

/**
 * Normalizes a typed code to the form of `generateRecoveryCode`. Returns undefined if it is invalid. Case, spaces and
 * dashes are ignored, and O, I and L are read as the digits they resemble.
 */
export function parseRecoveryCode(text: string): string | undefined {
  const characters = text.replaceAll(/[\s\p{Dash_Punctuation}]/gu, '')
  if (!/^[0-9A-TV-Za-tv-z]{32}$/.test(characters)) return undefined
  return groupByFour(characters.toUpperCase().replaceAll('O', '0').replaceAll(/[IL]/g, '1'))
}

/** Derives the wrapping key of a recovery code. Throws a `TypeError` if the text is not a code. */
export async function deriveKeyFromRecoveryCode(code: string): Promise<KeyEncryptionKey> {
  return KeyEncryptionKey.derive(bytesOf(code), 'countersign/recovery-wrap/v1')
}

/**
 * Derives the verifier of a recovery code, which the server stores to authenticate the user: 32 bytes in base64url that
 * reveal nothing about the wrapping key. Throws a `TypeError` if the text is not a code.
 */
export async function deriveRecoveryAuth(code: string): Promise<string> {
  return toBase64Url(await deriveBytes(bytesOf(code), 'countersign/recovery-auth/v1'))
}

function bytesOf(code: string): Uint8Array<ArrayBuffer> {
  const characters = parseRecoveryCode(code)?.replaceAll('-', '')
  if (characters === undefined) throw new TypeError('This is not a recovery code')
  const values = [...characters].map((character) => alphabet.indexOf(character))
  return Uint8Array.from(regroup(values, { from: 5, to: 8 }))
}

function groupByFour(characters: string): string {
  return characters.replaceAll(/.{4}(?=.)/g, '$&-')
}

/** Groups the same bits in another width; 160 bits fill groups of 5 and of 8 without remainder. */
function regroup(values: number[], width: { from: number; to: number }): number[] {
  const bits = values.map((value) => value.toString(2).padStart(width.from, '0')).join('')
  return Array.from({ length: bits.length / width.to }, (_, index) =>
    Number.parseInt(bits.slice(index * width.to, (index + 1) * width.to), 2),
  )
}
