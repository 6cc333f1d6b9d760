import * as endpoints from '@countersign/protocol/organizations/sso'
import { limits } from '@countersign/protocol/formats/limits'
import type { FastifyRequest } from 'fastify'
import { Uuid } from '@countersign/protocol/values'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Pages, redirectVisitor, siteSettings } from '#platform/http/page.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { setSessionCookies } from '#accounts/sessions/cookie.ts'
import { clientBrowser, requireOurPage, sessionGuard } from '#accounts/sessions/session.ts'
import { Type } from 'typebox'
import { completeSsoLogin, confirmArrival, getPendingSsoLogin, linkSsoAccount } from './complete-login.ts'
import { discoverSsoLogin, flowCookie, setFlowCookie } from './discovery.ts'
import { memberContextOf } from '#organizations/membership/access.ts'
import { createTestLogin, getServiceProviderMetadata, handleSsoCallback, startSsoLogin } from './flow.ts'

const Start = Type.Object({
  return_to: Type.Optional(Type.String()),
  login_hint: Type.Optional(Type.String({ maxLength: limits.emailCharactersMax })),
  test: Type.Optional(Type.String({ maxLength: 100 })),
})
const ByConnection = Type.Object({ connectionId: Uuid })
/** Body of a SAML response. The stored sign-in contains the return URL; `RelayState` is ignored. */
const SamlForm = Type.Object({ SAMLResponse: Type.String({ maxLength: limits.samlFormBytesMax }) })
const Arrive = Type.Object({ flow: Type.String({ maxLength: 100 }) })
const browser = { security: 'none', cors: 'no origin', host: 'api', page: true } as const

/**
 * Checks if the navigation was started by something other than the user's own input (Fetch Metadata). The service's
 * pages start a sign-in with `startSso`, which checks their origin. A navigation from one of its pages is not enough,
 * because such a page also redirects users to URLs that apps choose.
 */
function isLedFromElsewhere({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] !== 'none'
}

/** Checks if a page of another site led the browser here. */
function isCrossSite({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] === 'cross-site'
}

/** Routes for SSO on the API host: for browsers, pages and providers. */
export function ssoRoutes(host: Host, kernel: ServerContext, pages: Pages): void {
  signInRoutes(host, kernel, pages)
  returnRoutes(host, kernel)
  arrivalRoutes(host, kernel)
  samlRoutes(host, kernel)
}

/** Routes that start a sign-in with an organization. */
function signInRoutes(host: Host, kernel: ServerContext, pages: Pages): void {
  const { config, rateLimits } = kernel
  const site = siteSettings(config)

  host.route({
    method: 'GET',
    url: '/api/sso/:connectionId/start',
    config: browser,
    schema: { params: ByConnection, querystring: Start },
    async handler(request, reply) {
      await rateLimits.count('sso-starts', clientAddressKey(request))
      const { return_to: returnTo, login_hint: loginHint, test } = request.query
      const { connectionId } = request.params
      const browserToken = flowCookie(request, config.baseUrl)
      const led = { startedElsewhere: isLedFromElsewhere(request), isCrossSite: isCrossSite(request) }
      const begun = await startSsoLogin(kernel, { connectionId, returnTo, loginHint, test, browserToken, ...led })
      setFlowCookie(reply, begun.browserToken, config.baseUrl)
      const { location, shows } = begun
      if (shows) return pages.show(reply, { page: 'return', site, leaving: { url: location }, ...shows })
      return redirectVisitor(reply, location)
    },
  })

  host.route({
    ...endpoints.startSso,
    async handler(request, reply) {
      requireOurPage(request, config)
      await rateLimits.count('sso-starts', clientAddressKey(request))
      const browserToken = flowCookie(request, config.baseUrl)
      const start = { ...request.params, ...request.body, browserToken, startedElsewhere: false }
      const begun = await startSsoLogin(kernel, start)
      setFlowCookie(reply, begun.browserToken, config.baseUrl)
      return { url: begun.location }
    },
  })

  host.route({
    ...endpoints.discoverSso,
    async handler(request) {
      await rateLimits.count('sso-discoveries', clientAddressKey(request))
      return { loginUrl: await discoverSsoLogin(kernel, request.body.email) }
    },
  })
}

/** Routes for the provider's response and the following steps. */
function returnRoutes(host: Host, kernel: ServerContext): void {
  const { config } = kernel

  host.route({
    method: 'GET',
    url: '/api/sso/:connectionId/callback',
    config: browser,
    schema: { params: ByConnection },
    async handler(request, reply) {
      const { connectionId } = request.params
      const received = { protocol: 'oidc', parameters: new URL(request.url, config.baseUrl).searchParams } as const
      const browserToken = flowCookie(request, config.baseUrl)
      const flowId = await handleSsoCallback(kernel, { connectionId, browserToken, received })
      return redirectVisitor(reply, `/api/sso/${connectionId}/arrive?flow=${flowId}`)
    },
  })

  host.route({
    method: 'GET',
    url: '/api/sso/:connectionId/arrive',
    config: browser,
    schema: { params: ByConnection, querystring: Arrive },
    async handler(request, reply) {
      const arriving = { flowId: request.query.flow.toLowerCase(), browserToken: flowCookie(request, config.baseUrl) }
      const { location, token } = await completeSsoLogin(kernel, arriving, clientBrowser(request, config.baseUrl))
      if (token !== undefined) setSessionCookies(reply, { token, federatedToken: undefined }, config.baseUrl)
      return redirectVisitor(reply, location)
    },
  })
}

/** Routes for pages, about a sign-in whose provider has responded. */
function arrivalRoutes(host: Host, kernel: ServerContext): void {
  const { config } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.getPendingSsoLogin,
    handler(request) {
      const arriving = { ...request.params, browserToken: flowCookie(request, config.baseUrl) }
      return getPendingSsoLogin(kernel, arriving, clientBrowser(request, config.baseUrl))
    },
  })

  host.route({
    ...endpoints.confirmSso,
    async handler(request, reply) {
      requireOurPage(request, config)
      const browserToken = flowCookie(request, config.baseUrl)
      const arriving = { ...request.params, shown: request.body, browserToken }
      const { location, token } = await confirmArrival(kernel, arriving, clientBrowser(request, config.baseUrl))
      if (token !== undefined) setSessionCookies(reply, { token, federatedToken: undefined }, config.baseUrl)
      return { returnTo: location }
    },
  })

  host.route({
    ...endpoints.linkSsoAccount,
    onRequest: session.onRequest,
    handler(request) {
      const arriving = { ...request.params, ...request.body, browserToken: flowCookie(request, config.baseUrl) }
      return linkSsoAccount(kernel, session.of(request), arriving)
    },
  })
}

/** Routes for SAML: responses by form post, and the service provider metadata. */
function samlRoutes(host: Host, kernel: ServerContext): void {
  const { config, rateLimits } = kernel
  host.route({
    method: 'POST',
    url: '/api/sso/:connectionId/acs',
    config: { ...browser, form: true },
    bodyLimit: limits.samlFormBytesMax,
    schema: { params: ByConnection, body: SamlForm },
    async handler(request, reply) {
      await rateLimits.count('saml-responses', clientAddressKey(request))
      const { connectionId } = request.params
      const received = { protocol: 'saml', samlResponse: request.body.SAMLResponse } as const
      const browserToken = flowCookie(request, config.baseUrl)
      const flowId = await handleSsoCallback(kernel, { connectionId, browserToken, received })
      return redirectVisitor(reply, `/api/sso/${connectionId}/arrive?flow=${flowId}`)
    },
  })

  host.route({
    method: 'GET',
    url: '/api/sso/:connectionId/metadata',
    config: { security: 'none', cors: 'no origin', host: 'api' },
    schema: { params: ByConnection },
    async handler(request, reply) {
      const metadata = await getServiceProviderMetadata(kernel, request.params.connectionId)
      return reply.type('application/samlmetadata+xml; charset=utf-8').send(metadata)
    },
  })
}

/** Registers the route for testing a connection, on the business host. */
export function ssoTestRoutes(host: Host, kernel: ServerContext): void {
  const { config, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.testSsoConnection,
    onRequest: session.onRequest,
    async handler(request) {
      const now = clock()
      const asking = { ...memberContextOf(request, session.of(request)), ...request.params }
      const { connectionId } = asking
      const test = await createTestLogin(kernel, asking, now)
      return { url: `${config.baseUrl.origin}/api/sso/${connectionId}/start?test=${test}` }
    },
  })
}
