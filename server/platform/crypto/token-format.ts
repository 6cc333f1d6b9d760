import { crc32 } from 'node:zlib'
import { randomBytes } from './random.ts'

/** The kinds of token, by the prefix under which secret scanners know them. */
export const tokenPrefix = {
  access: 'cs_at_',
  refresh: 'cs_rt_',
  code: 'cs_code_',
  session: 'cs_session_',
  federated: 'cs_fedcm_',
  assertion: 'cs_assertion_',
  invitation: 'cs_invite_',
  provisioning: 'cs_scim_',
  clientSecret: 'cs_',
} as const
export type TokenKind = keyof typeof tokenPrefix

const secretBytes = 32
const checkCharacters = 6

/**
 * A new token: prefix, then base64url of what routes it to its owner's rows and of 256 random bits, then the CRC-32 of
 * all that. `route` holds nothing secret and never the user's id.
 */
export function newToken(kind: TokenKind, ...route: Uint8Array[]): string {
  return sealToken(kind, Buffer.concat([...route, randomBytes(secretBytes)]))
}

/**
 * The route in a token's text: its first `routeBytes` bytes. Undefined for what is not a token of this kind, letter for
 * letter; a token has exactly one text.
 */
export function readToken(kind: TokenKind, text: string, routeBytes: number): Buffer | undefined {
  const prefix = tokenPrefix[kind]
  const length = prefix.length + Math.ceil(((routeBytes + secretBytes) * 4) / 3) + checkCharacters
  if (text.length !== length || !text.startsWith(prefix)) return undefined

  const bytes = Buffer.from(text.slice(prefix.length, -checkCharacters), 'base64url')
  return sealToken(kind, bytes) === text ? bytes.subarray(0, routeBytes) : undefined
}

function sealToken(kind: TokenKind, bytes: Buffer): string {
  const text = tokenPrefix[kind] + bytes.toString('base64url')
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(text))
  return text + check.toString('base64url')
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether a text is a UUID as we write them; what is not must not reach a UUID column. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

export function uuidToBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

export function uuidFromBytes(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
