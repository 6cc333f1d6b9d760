import { isAlgorithm, webCryptoParameters } from '@countersign/protocol/formats/registries/algorithms'
import type { PublicJwk } from '@countersign/protocol/oauth/authorize'

type Json = Record<string, unknown>
export type DecodedJwt = { header: Json; claims: Json }

/** Decodes the header and the claims of a JWT (RFC 7519 §3) without verifying it. */
export function decodeJwt(jwt: string): DecodedJwt {
  const [header = '', claims = ''] = jwt.split('.')
  return { header: readJson(header), claims: readJson(claims) }
}

/** Returns whether one of the issuer's keys verifies the signature (RFC 7515 §5.2). */
async function isSignedBy(keys: PublicJwk[], jwt: string): Promise<boolean> {
  const { header } = decodeJwt(jwt)
  const jwk = keys.find(({ kid, alg }) => kid === header.kid && alg === header.alg)
  if (!jwk || !isAlgorithm(jwk.alg)) return false
  const algorithm = webCryptoParameters(jwk.alg)
  const key = await crypto.subtle.importKey('jwk', { ...jwk }, algorithm, false, ['verify'])
  const cut = jwt.lastIndexOf('.')
  return crypto.subtle.verify(algorithm, key, bytesOf(jwt.slice(cut + 1)), new TextEncoder().encode(jwt.slice(0, cut)))
}

function readJson(part: string): Json {
  return JSON.parse(new TextDecoder().decode(bytesOf(part))) as Json
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  )
}

export type Check = 'signature' | 'issuer' | 'audience' | 'nonce' | 'lifetime'
export type Checks = Record<Check, boolean>

/** `nonce` is undefined after a refresh, whose ID token should have none (OpenID Connect Core §12.2). */
export type Expected = { issuer: string; clientId: string; nonce: string | undefined; keys: PublicJwk[] }

/** Validates an ID token as every app must (OpenID Connect Core §3.1.3.7). */
export async function checkIdToken(
  jwt: string,
  { issuer, clientId, nonce, keys }: Expected,
  now: Date,
): Promise<Checks> {
  const { claims } = decodeJwt(jwt)
  const audience = [claims.aud].flat()
  return {
    signature: await isSignedBy(keys, jwt),
    issuer: claims.iss === issuer,
    audience: audience.length === 1 && audience[0] === clientId,
    nonce: claims.nonce === nonce,
    lifetime: typeof claims.exp === 'number' && claims.exp * 1000 > now.getTime(),
  }
}
