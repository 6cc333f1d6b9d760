import type { Introspection } from '@countersign/protocol/oauth/authorize'
import { limits } from '@countersign/protocol/formats/limits'
import { ScopeSet } from '@countersign/protocol/scope-set'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import type { Client } from '#clients/registration/authentication/authentication.ts'
import { verifyDelegatedToken } from '#oauth/delegation/delegated-token.ts'
import { toNumericDate } from '#platform/clock.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { tokenPrefix } from '#platform/crypto/token-format.ts'
import { resolveOrganizationClaim, toOrganizationClaim } from '#organizations/membership/context.ts'
import { resolveAccessToken } from '#tokens/families/access-token.ts'
import { toRefreshIntrospection, type AccessDescriber, type Described } from '#tokens/families/presented-token.ts'
import { claimsIn, readAssignedClaims } from './assigned-claims.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { effectiveScope } from '#oauth/authorize/parameters.ts'

const errors = defineErrors({ invalid_client: [401, 'Only an app with a client secret can introspect tokens.'] })

type Provider = { kernel: ServerContext; keys: SigningKeys; describeAccess: AccessDescriber }

/**
 * Describes the state of a token to the app that it was issued to, or at whose resource it is used (RFC 7662). Any
 * other token is not active, and the answer does not say why (§2.2). Throws `invalid_client`.
 */
export async function introspect(
  provider: Provider,
  { app }: Client,
  token: string,
  now: Date,
): Promise<Introspection> {
  if (app.isPublic) throw errors.invalid_client()
  const described = await describe(provider, app, token, now)
  if (!described) return describeDelegated(provider, app, token, now)

  const organization = await resolveOrganizationClaim(provider.kernel.db, described)
  if (organization.kind === 'revoked') return { active: false }
  const { identityId, handle, issuedAt, expiresAt, kind } = described
  const scope = effectiveScope(new ScopeSet(described.scope), app)
  const assigned = await readAssignedClaims(provider.kernel.db, app, { identityId, scope })
  const issuer = provider.kernel.config.authUrl.origin
  const known = { scope, assigned, claims: assigned }
  const { claims } = claimsIn('access_token', app, known, limits.answerClaimsBytesMax)
  return {
    ...claims,
    active: true,
    scope: scope.toString(),
    client_id: app.clientId,
    ...(scope.has('profile') && { username: handle }),
    token_type: kind === 'access' ? 'Bearer' : 'refresh_token',
    exp: toNumericDate(expiresAt),
    ...(issuedAt && { iat: toNumericDate(issuedAt) }),
    sub: identityId,
    ...toOrganizationClaim(organization),
    aud: issuer,
    iss: issuer,
  }
}

/** Describes a delegated token, which is inactive as soon as the user has revoked its delegation. */
async function describeDelegated(
  { kernel: { db, config }, keys }: Provider,
  { clientId }: RegisteredApp,
  token: string,
  now: Date,
): Promise<Introspection> {
  const issuer = config.authUrl.origin
  const claims = await verifyDelegatedToken({ db, keys, issuer }, { token, clientId }, now)
  if (!claims) return { active: false }
  return {
    active: true,
    scope: claims.scope,
    client_id: claims.sourceClientId,
    token_type: 'Bearer',
    exp: claims.expiresAt,
    iat: claims.issuedAt,
    sub: claims.identityId,
    aud: claims.audience,
    iss: issuer,
    act: { sub: claims.sourceClientId },
    grant_id: claims.delegationId,
    target_resource: claims.resourceKey,
    com_mode: claims.mode,
  }
}

async function describe(
  { kernel: { db, config }, keys, describeAccess }: Provider,
  app: RegisteredApp,
  token: string,
  now: Date,
): Promise<Described | undefined> {
  if (token.startsWith(tokenPrefix.refresh)) return toRefreshIntrospection(db, app, token, now)
  const key = await resolveAccessToken({ keys, issuer: config.authUrl.origin }, token, now)
  return key && describeAccess(app, key, now)
}
