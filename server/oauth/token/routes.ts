import { previewAppClaims } from '@countersign/protocol/clients/claims'
import * as endpoints from '@countersign/protocol/oauth/authorize'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { resolveOrganizationClaim, toOrganizationClaim } from '#organizations/membership/context.ts'
import { effectiveScope } from '#oauth/authorize/parameters.ts'
import { repeatable, sentBy } from '#oauth/sent-parameters.ts'
import { accessDescriber } from '#tokens/families/presented-token.ts'
import { accessGuard, bearerChallenges, endedApp } from '#tokens/families/access-token.ts'
import { claimsIn, readAssignedClaims } from './assigned-claims.ts'
import { identityClaims } from './claims.ts'
import { type TokenEndpoint, answerTokenRequest } from './endpoint.ts'
import { introspect } from './introspection.ts'
import { previewClaims } from './preview.ts'
import { parsePresentedToken, revoke } from './revocation.ts'

const errors = defineErrors({
  invalid_request: [400, 'Send the access token in the Authorization header only.'],
  invalid_token: [401, "The user can no longer use this token's organization."],
})

/** Registers the routes of issued tokens: token, revoke, introspect, userinfo. */
export function tokenRoutes(host: Host, provider: TokenEndpoint): void {
  const { kernel } = provider
  const introspecting = { ...provider, describeAccess: accessDescriber(kernel) }

  host.route({
    ...endpoints.requestToken,
    config: { ...endpoints.requestToken.config, form: { several: repeatable } },
    async handler(request, reply) {
      // RFC 6749 §5.1 requires it in addition to `no-store`, which every answer has.
      reply.header('pragma', 'no-cache')
      return answerTokenRequest(provider, sentBy(request))
    },
  })

  host.route({
    ...endpoints.revoke,
    config: { ...endpoints.revoke.config, form: true },
    async handler(request) {
      const { client, token } = await parsePresentedToken(provider, sentBy(request))
      await revoke(provider, client, token, kernel.clock())
      return {}
    },
  })

  host.route({
    ...endpoints.introspect,
    config: { ...endpoints.introspect.config, form: true },
    async handler(request) {
      const { client, token } = await parsePresentedToken(provider, sentBy(request))
      return introspect(introspecting, client, token, kernel.clock())
    },
  })

  userinfoRoutes(host, provider)
  previewRoute(host, kernel)
}

/** Registers the preview of what an app learns, for operators. */
function previewRoute(host: Host, kernel: ServerContext): void {
  const { onRequest, of } = adminGuard(kernel)
  host.route({
    ...previewAppClaims,
    onRequest,
    handler(request) {
      const { identityId, scope } = request.body
      return previewClaims(kernel.db, of(request), { ...request.params, identityId, scope }, kernel.clock())
    },
  })
}

/** Registers the UserInfo endpoint for GET and POST (OpenID Connect Core §5.3.1). */
function userinfoRoutes(host: Host, { kernel, apps, keys }: TokenEndpoint): void {
  const access = accessGuard(kernel, keys)

  for (const endpoint of [endpoints.userinfo, endpoints.userinfoByPost])
    host.route({
      ...endpoint,
      config: { ...endpoint.config, form: true },
      onRequest: access.onRequest,
      async handler(request) {
        if (hasToken(request.query) || hasToken(request.body)) throw errors.invalid_request()
        const granted = access.of(request)
        const app = await apps.find(granted.clientId)
        if (!app) throw errors.invalid_token(endedApp)
        const organization = await resolveOrganizationClaim(kernel.db, granted)
        if (organization.kind === 'revoked') throw errors.invalid_token({ headers: bearerChallenges.invalid })
        const scope = effectiveScope(ScopeSet.parse(granted.scope), app)
        const assigned = await readAssignedClaims(kernel.db, app, { identityId: granted.identityId, scope })
        const claims = identityClaims({ ...granted, ...assigned }, scope)
        return {
          ...claimsIn('userinfo', app, { scope, assigned, claims }).claims,
          sub: granted.identityId,
          ...toOrganizationClaim(organization),
        }
      },
    })
}

function hasToken(sent: unknown): boolean {
  return typeof sent === 'object' && sent !== null && 'access_token' in sent
}
