import type { PublicJwk } from '@countersign/protocol/oauth/authorize'
import { decodeJwt, isSignedBy } from './jwt.ts'

export type Check = 'signature' | 'issuer' | 'audience' | 'nonce' | 'lifetime'
export type Checks = Record<Check, boolean>

/** `nonce` is undefined after a refresh, whose ID token must carry none (OpenID Connect Core §12.2). */
export type Expected = { issuer: string; clientId: string; nonce: string | undefined; keys: PublicJwk[] }

/** Checks an ID token as every app must (OpenID Connect Core §3.1.3.7). */
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
