import type { TokenRequest } from '@countersign/protocol/oauth/authorize'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { missing, type Client } from '#clients/registration/authentication/authentication.ts'
import { resolveFieldAlias } from '#platform/http/body.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import {
  findFamilyByRefreshToken,
  revokeFamilyOnReuse,
  rotateRefreshToken,
  type IssuedTokens,
  type TokenFamily,
  type TokenStatements,
} from '#tokens/families/family.ts'
import { quoted } from '#oauth/authorize/parameters.ts'
import { defineFamilyGrant, type FamilyRequest } from './resource-grant.ts'

const errors = defineErrors({
  invalid_grant: [
    400,
    'The refresh token is invalid, expired, already used, revoked, or was issued to another client.',
  ],
  invalid_scope: [400, 'scope exceeds the scope originally granted.'],
})

type RefreshRequest = FamilyRequest & { refreshToken: string }

/** The grant `refresh_token` (RFC 6749 §6). */
export const refreshTokenGrant = defineFamilyGrant({
  name: 'refresh_token',
  clients: 'authenticated',
  parse: parseRefresh,
  findUnused: async (db, { refreshToken }, now) => {
    const found = await findFamilyByRefreshToken(db, refreshToken, now)
    return found?.reused ? undefined : found?.family
  },
  redeem: refreshTokens,
  resourceError: errors.invalid_grant,
})

function parseRefresh({ refresh_token, refreshToken: alias, scope, resource }: TokenRequest): RefreshRequest {
  const refreshToken = resolveFieldAlias(refresh_token, alias)
  if (!refreshToken) throw missing('refresh_token')
  return { refreshToken, scope, resource }
}

/**
 * Rotates a refresh token (RFC 6749 §6, RFC 9700 §4.14). Throws `invalid_grant`, `invalid_scope`.
 *
 * A `scope` narrows the access token only; the new refresh token keeps the granted scope. Reuse of a token after the
 * grace period of ten seconds for lost responses revokes its token family and no other.
 */
async function refreshTokens(
  { kernel: { db }, redeeming }: { kernel: ServerContext; redeeming: TokenStatements },
  { app }: Client,
  requested: RefreshRequest,
  now: Date,
): Promise<IssuedTokens> {
  const narrowed = requested.scope === undefined ? undefined : ScopeSet.parse(requested.scope)
  const issued = await rotateRefreshToken(redeeming, app, { refreshToken: requested.refreshToken, narrowed }, now)
  if (issued) return issued

  const found = await findFamilyByRefreshToken(db, requested.refreshToken, now)
  if (!found || found.family.clientId !== app.clientId || found.family.revokedAt !== null) throw errors.invalid_grant()
  if (found.reused) {
    await revokeFamilyOnReuse(db, found.family, now)
    throw errors.invalid_grant()
  }
  if (narrowed) requireRequested(narrowed, found.family)
  throw errors.invalid_grant()
}

/**
 * Throws `invalid_scope` for a scope that the app did not request at authorization. A scope that was requested but not
 * granted is dropped, because clients repeat their request; at least one scope must remain.
 */
function requireRequested(
  narrowed: ScopeSet,
  { scope: granted, requestedScope }: Pick<TokenFamily, 'scope' | 'requestedScope'>,
) {
  const [never] = narrowed.without(new ScopeSet(requestedScope ?? granted))
  if (never !== undefined)
    throw errors.invalid_scope({
      sentence: `scope contains ${quoted(never)}, which was not requested at authorization.`,
    })
  if (narrowed.intersection(new ScopeSet(granted)).size === 0)
    throw errors.invalid_scope({ sentence: 'None of the requested scopes was granted.' })
}
