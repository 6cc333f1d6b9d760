import type { Introspection } from '@countersign/protocol/oauth/authorize'
import type { RegisteredApp } from '#clients/registration/app-directory.ts'
import type { Client } from '#clients/registration/client-authentication.ts'
import { readDelegatedToken } from '#oauth/delegation/delegated-token.ts'
import { numericDate } from '#platform/clock.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { tokenPrefix } from '#platform/crypto/token-format.ts'
import { tellOrganization } from '#organizations/membership/context.ts'
import { accessKeyOf } from '#tokens/families/access-token.ts'
import { describeAccess, describeRefresh, type Described } from '#tokens/families/description.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { effectiveScope } from '#oauth/authorize/scope.ts'

const refuse = refusals({ invalid_client: [401, 'Only an app that has a secret may ask about its tokens.'] })

type Provider = { kernel: Kernel; keys: SigningKeys }

/**
 * Says what a token is worth now, to the app that it was issued to, or at whose resource it is used (RFC 7662).
 * Everything else is not active, and the answer does not tell why (§2.2). Refuses `invalid_client`.
 */
export async function introspect(
  provider: Provider,
  { app }: Client,
  token: string,
  now: Date,
): Promise<Introspection> {
  if (app.isPublic) throw refuse.invalid_client()
  const described = await describe(provider, app, token, now)
  if (!described) return describeDelegated(provider, app, token, now)

  const told = await tellOrganization(provider.kernel.db, described)
  if (!told) return { active: false }
  const { identityId, handle, issuedAt, expiresAt, kind } = described
  const issuer = provider.kernel.config.authUrl.origin
  const scope = effectiveScope(described.scope, app)
  return {
    active: true,
    scope: scope.join(' '),
    client_id: app.clientId,
    ...(scope.includes('profile') && { username: handle }),
    token_type: kind === 'access' ? 'Bearer' : 'refresh_token',
    exp: numericDate(expiresAt),
    ...(issuedAt && { iat: numericDate(issuedAt) }),
    sub: identityId,
    ...told,
    aud: issuer,
    iss: issuer,
  }
}

/** A token by which one app acts at a resource of another: worth nothing as soon as the person has revoked that. */
async function describeDelegated(
  { kernel: { db, config }, keys }: Provider,
  { clientId }: RegisteredApp,
  token: string,
  now: Date,
): Promise<Introspection> {
  const issuer = config.authUrl.origin
  const claims = await readDelegatedToken({ db, keys, issuer }, { token, clientId }, now)
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
  { kernel: { db, config }, keys }: Provider,
  app: RegisteredApp,
  token: string,
  now: Date,
): Promise<Described | undefined> {
  if (token.startsWith(tokenPrefix.refresh)) return describeRefresh(db, app, token, now)
  const key = await accessKeyOf({ keys, issuer: config.authUrl.origin }, token, now)
  return key && describeAccess(db, app, key, now)
}
