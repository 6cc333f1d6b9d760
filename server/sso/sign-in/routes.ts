import * as endpoints from '@countersign/protocol/organizations/sso'
import { limits } from '@countersign/protocol/formats/limits'
import type { FastifyRequest } from 'fastify'
import { Uuid } from '@countersign/protocol/values'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { siteOf, type Pages } from '#platform/http/page.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { setSessionCookies } from '#accounts/sessions/cookie.ts'
import { browserOf, requireOurPage, sessionGuard } from '#accounts/sessions/session.ts'
import { Type } from 'typebox'
import { arrive, confirmArrival, linkArrival, readArrival } from './arrival.ts'
import { flowCookie, setFlowCookie } from './cookie.ts'
import { beginFlow, describeServiceProvider, takeAnswer } from './flow.ts'
import { discoverLogin } from './home-realm.ts'
import { scimRoutes } from '#sso/provisioning/routes.ts'

const Start = Type.Object({
  return_to: Type.Optional(Type.String()),
  login_hint: Type.Optional(Type.String({ maxLength: limits.emailCharactersMax })),
  test: Type.Optional(Type.String({ maxLength: 100 })),
})
const ByConnection = Type.Object({ connectionId: Uuid })
/** Where one goes afterwards the sign-in remembers; what a form says of that (`RelayState`) is not read. */
const SamlForm = Type.Object({ SAMLResponse: Type.String({ maxLength: limits.samlFormBytesMax }) })
const Arrive = Type.Object({ flow: Type.String({ maxLength: 100 }) })
const browser = { security: 'none', cors: 'no origin', host: 'api', page: true } as const

/**
 * Whether something else than the user led the browser here, who has typed no address (Fetch Metadata). Our pages begin
 * a sign-in by `startSso`, which checks their origin: what a page of ours leads to need not be what we mean to begin,
 * as it takes people to where apps want them.
 */
function isLedFromElsewhere({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] !== 'none'
}

/** Whether a page of another site led the browser here. */
function isCrossSite({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] === 'cross-site'
}

/** What of organizations' sign-ins is on the API host: of browsers, of the pages, of providers and of directories. */
export function ssoRoutes(host: Host, kernel: Kernel, pages: Pages): void {
  signInRoutes(host, kernel, pages)
  returnRoutes(host, kernel)
  arrivalRoutes(host, kernel)
  samlRoutes(host, kernel)
  scimRoutes(host, kernel)
}

/** What begins a sign-in with an organization. */
function signInRoutes(host: Host, kernel: Kernel, pages: Pages): void {
  const { config, rateLimits } = kernel
  const site = siteOf(config)

  host.route({
    method: 'GET',
    url: '/api/sso/:connectionId/start',
    config: browser,
    schema: { params: ByConnection, querystring: Start },
    async handler(request, reply) {
      await rateLimits.count('sso start', addressKey(request))
      const { return_to: returnTo, login_hint: loginHint, test } = request.query
      const { connectionId } = request.params
      const browserToken = flowCookie(request, config.baseUrl)
      const led = { startedElsewhere: isLedFromElsewhere(request), isCrossSite: isCrossSite(request) }
      const begun = await beginFlow(kernel, { connectionId, returnTo, loginHint, test, browserToken, ...led })
      setFlowCookie(reply, begun.browserToken, config.baseUrl)
      const { location, shows } = begun
      if (shows) return pages.show(reply, { page: 'return', site, leaving: { url: location }, ...shows })
      return reply.redirect(location, 303)
    },
  })

  host.route({
    ...endpoints.startSso,
    async handler(request, reply) {
      requireOurPage(request, config)
      await rateLimits.count('sso start', addressKey(request))
      const browserToken = flowCookie(request, config.baseUrl)
      const start = { ...request.params, ...request.body, browserToken, startedElsewhere: false }
      const begun = await beginFlow(kernel, start)
      setFlowCookie(reply, begun.browserToken, config.baseUrl)
      return { url: begun.location }
    },
  })

  host.route({
    ...endpoints.discoverSso,
    async handler(request) {
      await rateLimits.count('sso discovery', addressKey(request))
      return { loginUrl: await discoverLogin(kernel, request.body.email) }
    },
  })
}

/** Where a browser comes back from a provider, and from there on. */
function returnRoutes(host: Host, kernel: Kernel): void {
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
      const flowId = await takeAnswer(kernel, { connectionId, browserToken, received })
      return reply.redirect(`/api/sso/${connectionId}/arrive?flow=${flowId}`, 303)
    },
  })

  host.route({
    method: 'GET',
    url: '/api/sso/:connectionId/arrive',
    config: browser,
    schema: { params: ByConnection, querystring: Arrive },
    async handler(request, reply) {
      const arriving = { flowId: request.query.flow.toLowerCase(), browserToken: flowCookie(request, config.baseUrl) }
      const { location, token } = await arrive(kernel, arriving, browserOf(request, config.baseUrl))
      if (token !== undefined) setSessionCookies(reply, { token, federatedToken: undefined }, config.baseUrl)
      return reply.redirect(location, 303)
    },
  })
}

/** What our pages ask of a sign-in whose provider has answered. */
function arrivalRoutes(host: Host, kernel: Kernel): void {
  const { config } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.readSsoArrival,
    handler(request) {
      const arriving = { ...request.params, browserToken: flowCookie(request, config.baseUrl) }
      return readArrival(kernel, arriving, browserOf(request, config.baseUrl))
    },
  })

  host.route({
    ...endpoints.confirmSso,
    async handler(request, reply) {
      requireOurPage(request, config)
      const browserToken = flowCookie(request, config.baseUrl)
      const arriving = { ...request.params, shown: request.body, browserToken }
      const { location, token } = await confirmArrival(kernel, arriving, browserOf(request, config.baseUrl))
      if (token !== undefined) setSessionCookies(reply, { token, federatedToken: undefined }, config.baseUrl)
      return { returnTo: location }
    },
  })

  host.route({
    ...endpoints.linkSso,
    onRequest: session.onRequest,
    handler(request) {
      const arriving = { ...request.params, ...request.body, browserToken: flowCookie(request, config.baseUrl) }
      return linkArrival(kernel, session.of(request), arriving)
    },
  })
}

/** What SAML has of its own: answers come in forms, and providers read who we are. */
function samlRoutes(host: Host, kernel: Kernel): void {
  const { config, rateLimits } = kernel
  host.route({
    method: 'POST',
    url: '/api/sso/:connectionId/acs',
    config: { ...browser, form: true },
    bodyLimit: limits.samlFormBytesMax,
    schema: { params: ByConnection, body: SamlForm },
    async handler(request, reply) {
      await rateLimits.count('saml answer', addressKey(request))
      const { connectionId } = request.params
      const received = { protocol: 'saml', samlResponse: request.body.SAMLResponse } as const
      const browserToken = flowCookie(request, config.baseUrl)
      const flowId = await takeAnswer(kernel, { connectionId, browserToken, received })
      return reply.redirect(`/api/sso/${connectionId}/arrive?flow=${flowId}`, 303)
    },
  })

  host.route({
    method: 'GET',
    url: '/api/sso/:connectionId/metadata',
    config: { security: 'none', cors: 'no origin', host: 'api' },
    schema: { params: ByConnection },
    async handler(request, reply) {
      const metadata = await describeServiceProvider(kernel, request.params.connectionId)
      return reply.type('application/samlmetadata+xml; charset=utf-8').send(metadata)
    },
  })
}
