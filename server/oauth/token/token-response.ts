import { hash } from 'node:crypto'
import type { Algorithm } from '@countersign/protocol/clients/apps'
import { limits } from '@countersign/protocol/formats/limits'
import type { TargetedResponse, TokenResponse } from '@countersign/protocol/oauth/authorize'
import type { RegisteredApp } from '#clients/registration/app-directory.ts'
import { numericDate, secondsAfter } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Told } from '#organizations/membership/context.ts'
import { signJwt } from '#tokens/signing-keys/jwt.ts'
import type { Issued, Redeemed } from '#tokens/families/family.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { claimsOf, tokenUserOf } from './claims.ts'
import { effectiveScope } from '#oauth/authorize/scope.ts'
import { sidOf } from '#accounts/sessions/sid.ts'

type Issuing = { app: RegisteredApp; keys: SigningKeys; issuer: string }

/** Says in full what a redemption issued: the opaque tokens, and the JWTs that tell of the same grant. */
export async function tokenResponse(
  { app, keys, issuer }: Issuing,
  issued: Issued & Told,
  now: Date,
): Promise<TokenResponse> {
  const { granted, access, refreshToken, organization } = issued
  const scope = effectiveScope(granted.scope.split(' '), app)
  const common = {
    iss: issuer,
    sub: granted.identityId,
    iat: numericDate(now),
    exp: numericDate(access.expiresAt),
  }
  const accessJwt = signJwt(keys, 'ES256', 'at+jwt', {
    ...common,
    aud: issuer,
    jti: access.sha256.toString('base64url'),
    client_id: app.clientId,
    scope: scope.join(' '),
    ...(scope.includes('user_id') && { user_id: granted.userId }),
    ...(organization && { organization }),
  })
  const idToken = signIdToken({ app, keys, issuer }, issued, now)

  return {
    access_token: access.token,
    access_token_jwt: await accessJwt,
    token_type: 'Bearer',
    expires_in: numericDate(access.expiresAt) - numericDate(now),
    scope: scope.join(' '),
    ...(await idToken),
    ...(keepsOffline(granted, app) && { refresh_token: refreshToken }),
    user: tokenUserOf(granted, scope),
    ...(scope.includes('user_id') && { user_id: granted.userId }),
    ...(organization && { organization }),
  }
}

/**
 * Says in full what a redemption issued for one resource: the token for it, and of those that are for us none but the
 * refresh token (RFC 8707 §2.2).
 */
export async function targetedResponse(
  { app, keys, issuer }: Issuing,
  issued: Issued & Told,
  { token, scope }: { token: string; scope: string[] },
  now: Date,
): Promise<TargetedResponse> {
  const { granted, refreshToken } = issued
  const expires = limits.delegatedTokenLifetimeSeconds
  const access = { token, sha256: sha256(token), expiresAt: secondsAfter(now, expires) }
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: expires,
    scope: scope.join(' '),
    ...(await signIdToken({ app, keys, issuer }, { ...issued, access }, now)),
    ...(keepsOffline(granted, app) && { refresh_token: refreshToken }),
  }
}

/** Whether the app has refresh tokens: by the whole grant, however narrow this answer is (RFC 6749 §6). */
function keepsOffline({ offline }: Pick<Redeemed, 'offline'>, { allowedScopes }: RegisteredApp): boolean {
  return offline && allowedScopes.includes('offline_access')
}

/**
 * Whether the ID token says when the person used their passkey (OpenID Connect Core §2). Apps compare that instant
 * among their users, and one person has the same in all of their identities: so it is for those alone that ask for it
 * in a request, or have registered `requireAuthTime` (OpenID Connect Dynamic Client Registration §2).
 */
function tellsAuthTime({ authTimeRequested }: Pick<Redeemed, 'authTimeRequested'>, app: RegisteredApp): boolean {
  return authTimeRequested || app.requireAuthTime
}

/** Who signed in, where the app may know that, beside the access token that it comes with. */
async function signIdToken(
  { app, keys, issuer }: Issuing,
  issued: Pick<Issued, 'granted' | 'access'> & Told,
  now: Date,
) {
  const { granted, access, organization } = issued
  const scope = effectiveScope(granted.scope.split(' '), app)
  if (!scope.includes('openid')) return undefined
  const token = await signJwt(keys, app.idTokenAlgorithm, 'JWT', {
    iss: issuer,
    sub: granted.identityId,
    iat: numericDate(now),
    exp: numericDate(access.expiresAt),
    ...(tellsAuthTime(granted, app) && { auth_time: granted.authTime }),
    aud: app.clientId,
    azp: app.clientId,
    ...(granted.nonce !== null && { nonce: granted.nonce }),
    // How the provider of an organization knew somebody, it does not say.
    ...(granted.ssoConnectionId === null && { amr: ['pop', 'mfa'], acr: 'phr' }),
    sid: sidOf(granted, app.clientId),
    at_hash: hashClaim(access, app.idTokenAlgorithm),
    ...(app.idTokenClaims && claimsOf(granted, scope)),
    ...(organization && { organization }),
  })
  return { id_token: token }
}

/**
 * The left half of a token's hash (OpenID Connect Core §3.1.3.6), by the hash of the ID token's algorithm: SHA-256 for
 * RS256 and ES256. For Ed25519 the standard names none of its own; clients have settled on SHA-512.
 */
function hashClaim(access: Issued['access'], algorithm: Algorithm): string {
  const digest = algorithm === 'EdDSA' ? hash('sha512', access.token, 'buffer') : access.sha256
  return digest.subarray(0, digest.length / 2).toString('base64url')
}
