import { encode as toBase64Url } from 'jose/base64url'
import { deriveBytes } from './hkdf.ts'
import { WrappingKey } from './wrapping-key.ts'

const codeBytes = 20

/** Crockford's base32: no I, L, O, which are read as 1, 1, 0, and no U. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A new recovery code of 160 random bits, as people write it down: 8 groups of 4 characters. */
export function newRecoveryCode(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(codeBytes))
  const characters = regroup([...bytes], { from: 8, to: 5 }).map((value) => alphabet.charAt(value))
  return groupByFour(characters.join(''))
}

/**
 * The code that somebody typed, as `newRecoveryCode` would write it; undefined when it is none. Case, spaces and dashes
 * are as they please, and O, I and L are the digits they look like.
 */
export function readRecoveryCode(text: string): string | undefined {
  const characters = text.replaceAll(/[\s\p{Dash_Punctuation}]/gu, '')
  if (!/^[0-9A-TV-Za-tv-z]{32}$/.test(characters)) return undefined
  return groupByFour(characters.toUpperCase().replaceAll('O', '0').replaceAll(/[IL]/g, '1'))
}

/** The wrapping key of a recovery code. Throws a `TypeError` when the text is no code. */
export async function keyFromRecoveryCode(code: string): Promise<WrappingKey> {
  return WrappingKey.derive(bytesOf(code), 'countersign/recovery-wrap/v1')
}

/**
 * What the server may know of a recovery code, and checks to let its holder in: 32 bytes in base64url that tell nothing
 * about the wrapping key. Throws a `TypeError` when the text is no code.
 */
export async function recoveryAuthOf(code: string): Promise<string> {
  return toBase64Url(await deriveBytes(bytesOf(code), 'countersign/recovery-auth/v1'))
}

function bytesOf(code: string): Uint8Array<ArrayBuffer> {
  const characters = readRecoveryCode(code)?.replaceAll('-', '')
  if (characters === undefined) throw new TypeError('This is not a recovery code')
  const values = [...characters].map((character) => alphabet.indexOf(character))
  return Uint8Array.from(regroup(values, { from: 5, to: 8 }))
}

function groupByFour(characters: string): string {
  return characters.replaceAll(/.{4}(?=.)/g, '$&-')
}

/** The same bits in groups of another width; 160 bits fill groups of 5 and of 8 without a rest. */
function regroup(values: number[], width: { from: number; to: number }): number[] {
  const bits = values.map((value) => value.toString(2).padStart(width.from, '0')).join('')
  return Array.from({ length: bits.length / width.to }, (_, index) =>
    Number.parseInt(bits.slice(index * width.to, (index + 1) * width.to), 2),
  )
}
