import type { Config } from '#platform/config/config.ts'
import * as endpoints from '@countersign/protocol/oauth/fedcm'
import { Type } from 'typebox'
import { allowRequestingOrigin } from '#platform/http/cors.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Pages, siteSettings } from '#platform/http/page.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { continuationPage } from '#oauth/authorize/parameters.ts'
import type { TokenEndpoint } from '#oauth/token/endpoint.ts'
import { fedcmGuard } from './guard.ts'
import { clientBrowser, findSessionByToken, sessionGuard } from '#accounts/sessions/session.ts'
import { disconnectByAccountHint, listAccounts } from './account.ts'
import { finalizeContinuation, issueAssertion } from './assertion.ts'
import { getContinuation } from './continuation.ts'
import { fedcmErrorFormat, requireRequestingApp } from './request.ts'
import { exchangeAssertion } from './exchange.ts'

type Settings = Pick<Config, 'baseUrl' | 'brand'>

/** Builds the FedCM configuration (FedCM §3.2). All its endpoints are on the origin that serves it. */
function fedcmConfig({ baseUrl: { origin }, brand: { name, logo, accent } }: Settings) {
  return {
    accounts_endpoint: `${origin}/api/oauth/fedcm/accounts`,
    client_metadata_endpoint: `${origin}/api/oauth/fedcm/client-metadata`,
    id_assertion_endpoint: `${origin}/api/oauth/fedcm/assertion`,
    disconnect_endpoint: `${origin}/api/oauth/fedcm/disconnect`,
    login_url: `${origin}/fedcm/login`,
    supports_use_other_account: true,
    branding: {
      name,
      background_color: accent?.light.pen ?? '#21398f',
      color: '#fbf9f4',
      icons: [
        logo
          ? { url: `${origin}/pictures/${logo.pictureId}`, size: 256 }
          : { url: `${origin}/assets/icon.png`, size: 128 },
      ],
    },
    // Where Chromium looked for it before it moved to the entry above.
    modes: { active: { supports_use_other_account: true } },
  }
}

/** Builds the document that names this provider as the only one of its site (FedCM §3.1). */
function webIdentityDocument(settings: Settings) {
  const { accounts_endpoint, login_url } = fedcmConfig(settings)
  return { provider_urls: [`${settings.baseUrl.origin}/api/oauth/fedcm/config`], accounts_endpoint, login_url }
}

/** Registers the endpoints that browsers, their windows and apps use for FedCM. */
export function fedcmRoutes(host: Host, provider: TokenEndpoint): void {
  const { kernel, apps } = provider
  const { config, rateLimits } = kernel
  const session = sessionGuard(kernel)

  host.route({ ...endpoints.fedcmConfig, handler: () => fedcmConfig(config) })

  host.route({
    ...endpoints.fedcmClientMetadata,
    async handler(request) {
      await rateLimits.count('metadata', clientAddressKey(request))
      const app = await apps.find(request.query.client_id)
      return {
        ...(app?.privacyUrl && { privacy_policy_url: app.privacyUrl }),
        ...(app?.termsUrl && { terms_of_service_url: app.termsUrl }),
      }
    },
  })

  browserRoutes(host, provider)

  host.route({
    ...endpoints.fedcmFinalize,
    onRequest: session.onRequest,
    async handler(request) {
      return { assertion: await finalizeContinuation(provider, session.of(request), request.body, kernel.clock()) }
    },
  })

  host.route({
    ...endpoints.fedcmExchange,
    config: { ...endpoints.fedcmExchange.config, form: true },
    handler(request) {
      const { authorization } = request.headers
      return exchangeAssertion(provider, { authorization, body: request.body, address: clientAddressKey(request) })
    },
  })
}

/** Registers the endpoints that only a browser itself may call. It shows their errors to the user. */
function browserRoutes(host: Host, provider: TokenEndpoint): void {
  const { kernel, apps } = provider
  const { db, clock, config, rateLimits } = kernel
  const session = fedcmGuard(kernel)
  const formPost = { form: true, dialect: fedcmErrorFormat(config.baseUrl) }

  host.route({
    ...endpoints.fedcmAccounts,
    onRequest: session.onRequest,
    async handler(request) {
      await rateLimits.count('fedcm-accounts-per-session', session.of(request).sessionId)
      return { accounts: await listAccounts(db, session.of(request), clock()) }
    },
  })

  host.route({
    ...endpoints.fedcmAssertion,
    config: { ...endpoints.fedcmAssertion.config, ...formPost },
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { client_id: clientId, account_id: accountId, params } = request.body
      const asking = await requireRequestingApp(apps, clientId, request.headers.origin)
      allowRequestingOrigin(reply, asking.origin)
      await rateLimits.count('fedcm-logins-per-session', session.of(request).sessionId)
      return issueAssertion(provider, session.of(request), { asking, accountId, params }, clock())
    },
  })

  host.route({
    ...endpoints.fedcmDisconnect,
    config: { ...endpoints.fedcmDisconnect.config, ...formPost },
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { client_id: clientId, account_hint: hint } = request.body
      const { origin } = await requireRequestingApp(apps, clientId, request.headers.origin)
      allowRequestingOrigin(reply, origin)
      await rateLimits.count('fedcm-logins-per-session', session.of(request).sessionId)
      return { account_id: await disconnectByAccountHint(db, session.of(request), { clientId, hint }, clock()) }
    },
  })
}

/** Registers the well-known document on each host, by which a browser finds the provider of the site. */
export function webIdentityRoute(host: Host, { config }: Pick<ServerContext, 'config'>): void {
  const document = webIdentityDocument(config)
  host.route({ ...endpoints.webIdentity, handler: () => document })
}

const Continue = Type.Object({ request: Type.Optional(Type.String()) })
const Fault = Type.Object({ code: Type.Optional(Type.String()) })

/**
 * Registers the windows that a browser opens. They are on the origin of the configuration and lead to the pages of the
 * auth host.
 */
export function fedcmPages(host: Host, kernel: ServerContext, pages: Pages): void {
  const { db, clock, config } = kernel
  const site = siteSettings(config)
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
      const session = await findSessionByToken(db, clientBrowser(request, config.baseUrl), clock())
      const { request: reference = '' } = request.query
      // A recovered passkey opens one identity only, and the dialogs of browsers show all.
      const acting = session?.authMethod === 'recovered_passkey' ? undefined : session
      const there = acting && (await getContinuation({ db, config }, acting, reference, clock()))
      return reply.redirect(there?.href ?? '/fedcm/error?code=expired', 303)
    },
  })

  host.route({
    method: 'GET',
    url: '/fedcm/resolve',
    config: page,
    async handler(request, reply) {
      const session = await findSessionByToken(db, clientBrowser(request, config.baseUrl), clock())
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
