import type { PublicJwk } from '@countersign/protocol/oauth/authorize'

type Json = Record<string, unknown>
export type DecodedJwt = { header: Json; claims: Json }

/** The header and the claims of a JWT (RFC 7519 §3), unchecked. */
export function decodeJwt(jwt: string): DecodedJwt {
  const [header = '', claims = ''] = jwt.split('.')
  return { header: readJson(header), claims: readJson(claims) }
}

/** Whether a key of the issuer made the signature (RFC 7515 §5.2). */
export async function isSignedBy(keys: PublicJwk[], jwt: string): Promise<boolean> {
  const { header } = decodeJwt(jwt)
  const jwk = keys.find(({ kid, alg }) => kid === header.kid && alg === header.alg)
  const algorithm = jwk && algorithms[jwk.alg]
  if (!algorithm) return false
  const key = await crypto.subtle.importKey('jwk', { ...jwk }, algorithm, false, ['verify'])
  const cut = jwt.lastIndexOf('.')
  return crypto.subtle.verify(algorithm, key, bytesOf(jwt.slice(cut + 1)), new TextEncoder().encode(jwt.slice(0, cut)))
}

const algorithms: Record<string, AlgorithmIdentifier & { namedCurve?: string; hash?: string }> = {
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  EdDSA: { name: 'Ed25519' },
}

function readJson(part: string): Json {
  return JSON.parse(new TextDecoder().decode(bytesOf(part))) as Json
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  )
}
