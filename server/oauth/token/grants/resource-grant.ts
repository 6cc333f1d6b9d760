import type { ResourceTokenResponse, TokenRequest } from '@countersign/protocol/oauth/authorize'
import type { Client } from '#clients/registration/authentication/authentication.ts'
import { issueDelegatedTokenResponse, requireDelegation } from '#oauth/delegation/exchange.ts'
import type { Database } from '#platform/database/database.ts'
import { ApiError } from '#platform/api-error.ts'
import type { IssuedTokens, TokenFamily } from '#tokens/families/family.ts'
import type { Subject } from '#tokens/families/presented-token.ts'
import { splitScopes, validateResourceIndicator } from '#oauth/authorize/connector.ts'
import { defineGrant, type Grant, type GrantDeps } from './grant.ts'
import { completeRedemption } from '#oauth/token/redemption.ts'
import { resourceTokenResponse, tokenResponse } from '#oauth/token/response.ts'

/** Parameters that every grant of a token family has. */
export type FamilyRequest = {
  scope: string | undefined
  /** URL of the resource that the token is for (RFC 8707 §2.2); undefined for a token for this provider. */
  resource: string | undefined
}

type FamilyGrantDefinition<Request extends FamilyRequest> = Pick<
  Parameters<typeof defineGrant>[0],
  'name' | 'clients'
> & {
  parse: (body: TokenRequest) => Request
  /** Finds the token family of the presented credential without redeeming it, unless it was used before. */
  findUnused: (db: Database, request: Request, now: Date) => Promise<TokenFamily | undefined>
  redeem: (deps: GrantDeps, client: Client, request: Request, now: Date) => Promise<IssuedTokens>
  /** Creates the error for an app that may not act at the requested resource, with the reason. */
  resourceError: (reason: { sentence: string }) => ApiError
}

/** Defines a grant that redeems a credential of a token family, for tokens of this provider or of one resource. */
export function defineFamilyGrant<Request extends FamilyRequest>(grant: FamilyGrantDefinition<Request>): Grant {
  const { name, clients, parse } = grant
  return defineGrant({
    name,
    clients,
    parse,
    redeem: async (deps, client, request, now) => {
      const { resource } = request
      if (resource !== undefined) return redeemForResource({ deps, grant }, client, { ...request, resource }, now)
      const { kernel, keys } = deps
      const issuing = { app: client.app, keys, issuer: kernel.config.authUrl.origin }
      const redeeming = { db: kernel.db, app: client.app }
      const issued = await completeRedemption(redeeming, await grant.redeem(deps, client, request, now), now)
      return tokenResponse(issuing, issued, now)
    },
  })
}

/**
 * Redeems a code or a refresh token for a token for one resource (RFC 8707 §2.2), as MCP clients do.
 *
 * Nothing is consumed if the app may not have that token. A credential that was used before is redeemed nevertheless,
 * because only its redemption detects the reuse and revokes the token family. Throws `invalid_target` if there is no
 * such resource or the app may not act there; with a refresh token that is `invalid_grant`, so that the app asks the
 * user again. Throws `invalid_scope`.
 */
async function redeemForResource<Request extends FamilyRequest>(
  { deps, grant }: { deps: GrantDeps; grant: FamilyGrantDefinition<Request> },
  client: Client,
  request: Request & { resource: string },
  now: Date,
): Promise<ResourceTokenResponse> {
  const { kernel, keys } = deps
  const { db } = kernel
  const { resource: named } = request
  const { own, scope } = splitScopes(request.scope ?? '')
  const narrowed = { ...request, scope: own.size > 0 ? own.toString() : undefined }
  const { clientId } = client.app
  const takenFor = (subject: Subject) => ({ subject, clientId, named, scope: scope.size > 0 ? scope : undefined })
  const denied = (error: unknown) => {
    if (!(error instanceof ApiError && error.code === 'access_denied')) throw error
    throw grant.resourceError({ sentence: error.message })
  }

  const family = await grant.findUnused(db, request, now)
  // A used credential, and one of another client, gets the error of the redemption below.
  if (family?.clientId === clientId) {
    validateResourceIndicator(named)
    await requireDelegation(db, takenFor(family), now).catch(denied)
  }
  const redeeming = { db, app: client.app }
  const redeemed = await completeRedemption(redeeming, await grant.redeem(deps, client, narrowed, now), now)
  const { identityId, byProviderAlone, authTime } = redeemed.granted
  const subject = { identityId, authTime: new Date(authTime * 1000), byProviderAlone }
  const delegated = await issueDelegatedTokenResponse(deps, takenFor(subject), now).catch(denied)
  const issuing = { app: client.app, keys, issuer: kernel.config.authUrl.origin }
  return resourceTokenResponse(issuing, redeemed, delegated, now)
}
