import * as endpoints from '@countersign/protocol/oauth/fedcm'
import { Type } from 'typebox'
import { allowAskingApp } from '#platform/http/cors.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { siteOf, type Pages } from '#platform/http/page.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { continuationPage } from '#oauth/authorize/continuation.ts'
import type { TokenEndpoint } from '#oauth/token/endpoint.ts'
import { federatedGuard } from '#accounts/sessions/federated-session.ts'
import { browserOf, sessionGuard, sessionOf } from '#accounts/sessions/session.ts'
import { disconnectHinted, listAccounts } from './account.ts'
import { assertIdentity, finalize } from './assertion.ts'
import { openContinuation } from './continuation.ts'
import { browserDialect } from './error.ts'
import { exchangeAssertion } from './exchange.ts'
import { providerConfiguration, siteProvider } from './provider.ts'
import { requireRequestingApp } from './requesting-app.ts'

/** What a browser asks by itself, and what its windows and the apps then do with the answer. */
export function federatedRoutes(host: Host, provider: TokenEndpoint): void {
  const { kernel, apps } = provider
  const { config, rateLimits } = kernel
  const session = sessionGuard(kernel)
  const configuration = providerConfiguration(config)

  host.route({ ...endpoints.federatedConfiguration, handler: () => configuration })

  host.route({
    ...endpoints.federatedClient,
    async handler(request) {
      await rateLimits.count('metadata', addressKey(request))
      const app = await apps.find(request.query.client_id)
      return {
        ...(app?.privacyUrl && { privacy_policy_url: app.privacyUrl }),
        ...(app?.termsUrl && { terms_of_service_url: app.termsUrl }),
      }
    },
  })

  browserRoutes(host, provider)

  host.route({
    ...endpoints.finalizeFederated,
    onRequest: session.onRequest,
    async handler(request) {
      return { assertion: await finalize(provider, session.of(request), request.body, kernel.clock()) }
    },
  })

  host.route({
    ...endpoints.exchangeFederated,
    config: { ...endpoints.exchangeFederated.config, form: true },
    handler(request) {
      const { authorization } = request.headers
      return exchangeAssertion(provider, { authorization, body: request.body, address: addressKey(request) })
    },
  })
}

/** What only a browser itself may ask. What it is refused it shows to the person. */
function browserRoutes(host: Host, provider: TokenEndpoint): void {
  const { kernel, apps } = provider
  const { db, clock, config, rateLimits } = kernel
  const session = federatedGuard(kernel)
  const asked = { form: true, dialect: browserDialect(config.baseUrl) }

  host.route({
    ...endpoints.federatedAccounts,
    onRequest: session.onRequest,
    async handler(request) {
      await rateLimits.count('federated accounts of a session', session.of(request).sessionId)
      return { accounts: await listAccounts(db, session.of(request)) }
    },
  })

  host.route({
    ...endpoints.assertFederated,
    config: { ...endpoints.assertFederated.config, ...asked },
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { client_id: clientId, account_id: accountId, params } = request.body
      const asking = await requireRequestingApp(apps, clientId, request.headers.origin)
      allowAskingApp(reply, asking.origin)
      await rateLimits.count('federated sign-in of a session', session.of(request).sessionId)
      return assertIdentity(provider, session.of(request), { asking, accountId, params }, clock())
    },
  })

  host.route({
    ...endpoints.disconnectFederated,
    config: { ...endpoints.disconnectFederated.config, ...asked },
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { client_id: clientId, account_hint: hint } = request.body
      const { origin } = await requireRequestingApp(apps, clientId, request.headers.origin)
      allowAskingApp(reply, origin)
      await rateLimits.count('federated sign-in of a session', session.of(request).sessionId)
      return { account_id: await disconnectHinted(db, session.of(request), { clientId, hint }, clock()) }
    },
  })
}

/** By which a browser learns, on each host, that it is of a site with this provider. */
export function siteProviderRoute(host: Host, { config }: Pick<Kernel, 'config'>): void {
  const document = siteProvider(config)
  host.route({ ...endpoints.webIdentity, handler: () => document })
}

const Continue = Type.Object({ request: Type.Optional(Type.String()) })
const Fault = Type.Object({ code: Type.Optional(Type.String()) })

/** The windows that a browser opens. They are where its configuration is, and lead to the pages of the auth host. */
export function federatedPages(host: Host, kernel: Kernel, pages: Pages): void {
  const { db, clock, config } = kernel
  const site = siteOf(config)
  const page = { security: 'none', cors: 'no origin', host: 'api', page: true } as const
  const resolve = continuationPage(config.baseUrl.origin)

  host.route({
    method: 'GET',
    url: '/fedcm/login',
    config: page,
    handler: (_request, reply) =>
      reply.redirect(`${config.authUrl.origin}/login?other&return=${encodeURIComponent(resolve)}`, 303),
  })

  host.route({
    method: 'GET',
    url: '/fedcm/continue',
    config: page,
    schema: { querystring: Continue },
    async handler(request, reply) {
      const session = await sessionOf(db, browserOf(request, config.baseUrl), clock())
      const { request: reference = '' } = request.query
      const there = session && (await openContinuation({ db, config }, session, reference, clock()))
      return reply.redirect(there?.href ?? '/fedcm/error?code=expired', 303)
    },
  })

  host.route({
    method: 'GET',
    url: '/fedcm/resolve',
    config: page,
    async handler(request, reply) {
      const session = await sessionOf(db, browserOf(request, config.baseUrl), clock())
      reply.header('set-login', session?.authMethod === 'passkey' ? 'logged-in' : 'logged-out')
      return pages.show(reply, { page: 'fedcm', site })
    },
  })

  host.route({
    method: 'GET',
    url: '/fedcm/error',
    config: page,
    schema: { querystring: Fault },
    handler: (request, reply) =>
      pages.show(reply, { page: 'fedcm', site, fault: request.query.code ?? 'invalid_request' }),
  })
}
