import { crc32 } from 'node:zlib'
import { randomTokenBytes } from './random.ts'

/** Prefixes of the kinds of tokens, by which secret scanners recognize them. */
export const tokenPrefix = {
  access: 'cs_at_',
  refresh: 'cs_rt_',
  code: 'cs_code_',
  session: 'cs_session_',
  federated: 'cs_fedcm_',
  assertion: 'cs_assertion_',
  invitation: 'cs_invite_',
  accountInvitation: 'cs_inv_',
  provisioning: 'cs_scim_',
  admin: 'cs_admin_',
  setup: 'cs_setup_',
  emailProof: 'cs_email_',
  recoveryLink: 'cs_rl_',
  recoveryStop: 'cs_rs_',
  clientSecret: 'cs_',
} as const
export type TokenKind = keyof typeof tokenPrefix

const secretBytes = 32
const checkCharacters = 6

/**
 * Generates a token: prefix, base64url of the routing key and of 256 random bits, CRC-32 of the whole. `route` contains
 * no secret and never the user ID.
 */
export function generateToken(kind: TokenKind, ...route: Uint8Array[]): string {
  return sealToken(kind, Buffer.concat([...route, randomTokenBytes(secretBytes)]))
}

/**
 * Returns the routing key of a token, its first `routeBytes` bytes. Returns undefined for text that is not exactly a
 * token of this kind; a token has only one spelling.
 */
export function parseToken(kind: TokenKind, text: string, routeBytes: number): Buffer | undefined {
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

export function uuidToBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

export function uuidFromBytes(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
