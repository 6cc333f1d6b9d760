import type { ResourceTokenResponse, TokenResponse, TokenUser } from '@countersign/protocol/oauth/authorize'
import type { Redeemed, TokenFamilyGrant } from '#tokens/families/family.ts'
import { limits } from '@countersign/protocol/formats/limits'
import type { ScopeSet } from '@countersign/protocol/scope-set'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import { addSeconds, toNumericDate } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { accessTokenHash } from '#tokens/signing-keys/algorithms.ts'
import { signJwt } from '#tokens/signing-keys/jwt.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { pairwiseSid } from '#accounts/backchannel-logout/sid.ts'
import { identityClaims, verifiedEmail } from './claims.ts'
import { claimsIn } from './assigned-claims.ts'
import type { CompletedRedemption } from './redemption.ts'

/** Builds the `user` object of a token response: `id` always, other fields by scope. */
function tokenResponseUser(granted: TokenFamilyGrant, scope: ScopeSet): TokenUser {
  const { identityId, handle, displayName, avatarUrl } = granted
  const email = scope.has('email') ? verifiedEmail(granted) : undefined
  return {
    id: identityId,
    ...(scope.has('profile') && { handle, displayName, avatarUrl }),
    ...(email !== undefined && { email }),
  }
}

type Issuing = { app: RegisteredApp; keys: SigningKeys; issuer: string }

/** Builds the full token response of a redemption: the opaque tokens, and the JWTs for the same grant. */
export async function tokenResponse(
  { app, keys, issuer }: Issuing,
  issued: CompletedRedemption,
  now: Date,
): Promise<TokenResponse> {
  const { granted, scope, access, refreshToken, organization, groups, roles } = issued
  const mapped = claimsIn('access_token', app, { scope, assigned: { groups, roles }, claims: {} })
  const common = {
    iss: issuer,
    sub: granted.identityId,
    iat: toNumericDate(now),
    exp: toNumericDate(access.expiresAt),
  }
  const accessJwt = signJwt(keys, 'ES256', 'at+jwt', {
    ...mapped.claims,
    ...common,
    aud: issuer,
    jti: access.sha256.toString('base64url'),
    client_id: app.clientId,
    scope: scope.toString(),
    ...(scope.has('user_id') && { user_id: granted.userId }),
    ...(organization && { organization }),
  })
  const idToken = signIdToken({ app, keys, issuer }, issued, now)

  return {
    access_token: access.token,
    access_token_jwt: await accessJwt,
    token_type: 'Bearer',
    expires_in: toNumericDate(access.expiresAt) - toNumericDate(now),
    scope: scope.toString(),
    ...(await idToken),
    ...(keepsOffline(granted, app) && { refresh_token: refreshToken }),
    user: tokenResponseUser(granted, scope),
    ...(scope.has('user_id') && { user_id: granted.userId }),
    ...(organization && { organization }),
  }
}

/**
 * Builds the token response of a redemption for one resource: the token for it, and of our own tokens only the refresh
 * token (RFC 8707 §2.2).
 */
export async function resourceTokenResponse(
  { app, keys, issuer }: Issuing,
  issued: CompletedRedemption,
  { token, scope }: { token: string; scope: ScopeSet },
  now: Date,
): Promise<ResourceTokenResponse> {
  const { granted, refreshToken } = issued
  const expires = limits.delegatedTokenLifetimeSeconds
  const access = { token, sha256: sha256(token), expiresAt: addSeconds(now, expires) }
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: expires,
    scope: scope.toString(),
    ...(await signIdToken({ app, keys, issuer }, { ...issued, access }, now)),
    ...(keepsOffline(granted, app) && { refresh_token: refreshToken }),
  }
}

/** Tells if the app gets refresh tokens: decided by the whole grant, even if this answer is narrower (RFC 6749 §6). */
function keepsOffline({ offline }: Pick<Redeemed, 'offline'>, { allowedScopes }: RegisteredApp): boolean {
  return offline && allowedScopes.includes('offline_access')
}

/**
 * Tells if the ID token contains `auth_time`, the time of the last passkey use (OpenID Connect Core §2).
 *
 * Apps can compare `auth_time` among their users, and it is the same for all identities of a user. It is therefore only
 * included if a request asks for it, or the app registered `requireAuthTime` (OpenID Connect Dynamic Client
 * Registration §2).
 */
function includesAuthTime({ authTimeRequested }: Pick<Redeemed, 'authTimeRequested'>, app: RegisteredApp): boolean {
  return authTimeRequested || app.requireAuthTime
}

/** Signs the ID token that accompanies an access token, if the scope contains `openid`. */
async function signIdToken(
  { app, keys, issuer }: Issuing,
  issued: Omit<CompletedRedemption, 'refreshToken'>,
  now: Date,
) {
  const { granted, scope, access, organization, groups, roles } = issued
  if (!scope.has('openid')) return undefined
  const claims = identityClaims({ ...granted, groups, roles }, scope)
  const fitting = claimsIn('id_token', app, { scope, assigned: { groups, roles }, claims })
  const token = await signJwt(keys, app.idTokenSignedResponseAlg, 'JWT', {
    ...(app.idTokenClaims && fitting.claims),
    iss: issuer,
    sub: granted.identityId,
    iat: toNumericDate(now),
    exp: toNumericDate(access.expiresAt),
    ...(includesAuthTime(granted, app) && { auth_time: granted.authTime }),
    aud: app.clientId,
    azp: app.clientId,
    ...(granted.nonce !== null && { nonce: granted.nonce }),
    // The SSO connection of an organization does not report how it authenticated the user.
    ...(granted.ssoConnectionId === null && { amr: ['pop', 'mfa'], acr: 'phr' }),
    sid: pairwiseSid(granted, app.clientId),
    at_hash: accessTokenHash(app.idTokenSignedResponseAlg, access),
    ...(organization && { organization }),
  })
  return { id_token: token }
}
