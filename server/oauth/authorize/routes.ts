import * as endpoints from '@countersign/protocol/oauth/authorize'
import type { RequestingApp, SignInView } from '@countersign/protocol/pages'
import { isObject } from '@countersign/protocol/formats/json'
import { pushRequest } from '@countersign/protocol/oauth/pushed-requests'
import { type ClientId, asId } from '@countersign/protocol/ids'
import type { FastifyReply } from 'fastify'
import type { Host } from '#platform/http/host.ts'
import { type Pages, redirectVisitor, siteSettings } from '#platform/http/page.ts'
import { openerKept } from '#platform/http/security-headers.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import type { AppDirectory } from '#clients/registration/directory.ts'
import { isClientIdUrl } from '#clients/registration/metadata-documents/metadata-document.ts'
import type { UsageCounter } from '#clients/usage/usage.ts'
import { readSent, repeatable, sentBy, type SentParameters } from '#oauth/sent-parameters.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { findInvitationAt } from '#organizations/members/invitations/preview.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { type SignInOutcome, resolveSignInRequest } from './sign-in-request.ts'
import { authorize } from './authorize.ts'
import { answerPushedRequest } from './pushed-request-endpoint.ts'
import {
  type KeptRequest,
  isStoredRequestUri,
  keepRequest,
  openStoredRequest,
  storePostedRequest,
} from './pushed-request.ts'

/** Services of the routes of authorization requests. */
export type AuthorizationServices = {
  kernel: ServerContext
  apps: AppDirectory
  usage: UsageCounter
  keys: SigningKeys
  pages: Pages
}

/** Registers the API routes of authorization requests. */
export function authorizationRoutes(host: Host, provider: AuthorizationServices): void {
  const { kernel, apps } = provider
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.authorize,
    onRequest: session.onRequest,
    async handler(request) {
      const context = { kernel, apps: apps.requestedFrom(clientAddressKey(request)) }
      const { leaving, ...given } = await authorize(context, session.of(request), request.body, kernel.clock())
      return { redirectUrl: leaving.url, ...(leaving.fields && { formFields: leaving.fields }), ...given }
    },
  })

  host.route({
    ...pushRequest,
    config: { ...pushRequest.config, form: { several: repeatable } },
    async handler(request, reply) {
      return reply.status(201).send(await answerPushedRequest(provider, sentBy(request)))
    },
  })
}

/** A browser that an app sends here, and how its request came. */
type Visit = { reply: FastifyReply; address: string; isPosted: boolean }

/** Registers the pages that an app sends a browser to: sign-in, connect. Each accepts a query and a form. */
export function pageRoutes(host: Host, { kernel, apps, usage, keys, pages }: AuthorizationServices): void {
  const site = siteSettings(kernel.config)
  const readerFor = (address: string) => ({ db: kernel.db, apps: apps.requestedFrom(address), keys, site, usage })
  const config = {
    security: 'none',
    cors: 'no origin',
    host: 'auth',
    page: true,
    form: { several: repeatable, repeats: true },
  } as const
  const signIn = async (sent: SentParameters, visit: Visit) => {
    const { client_id: clientId = '', request_uri: requestUri } = sent
    if (requestUri === undefined || !isStoredRequestUri(requestUri)) return receive({ parameters: sent }, visit)
    if (visit.isPosted) return redirectVisitor(visit.reply, pageOf(clientId, requestUri))
    const stored = await openStoredRequest(kernel.db, asId<ClientId>(clientId), requestUri, kernel.clock())
    const reading = await resolve(stored, visit)
    return answer('show' in reading ? { show: referringTo(requestUri, reading.show) } : reading, visit.reply)
  }

  const connect = ({ resource, scope, mode, ...parameters }: SentParameters, visit: Visit) =>
    receive({ parameters, connector: { resource, scope, mode } }, visit)

  const resolve = ({ parameters, connector }: KeptRequest, { address }: Visit) =>
    resolveSignInRequest(readerFor(address), parameters, connector)

  /**
   * Answers a request that is not stored yet. It is stored if it was posted, because the page that answers a form
   * cannot be left and returned to, and if it requires a passkey use or may require one, which is bound to it.
   */
  const receive = async (requested: KeptRequest, visit: Visit) => {
    const reading = await resolve(requested, visit)
    if (!('show' in reading)) return answer(reading, visit.reply)
    const { app, prompts, maxAgeSeconds, givenTo } = reading.show
    const leads = visit.isPosted && givenTo === undefined
    const binds = prompts.includes('login') || maxAgeSeconds !== undefined
    if (prompts.includes('none') || (!leads && !binds)) return answer(reading, visit.reply)
    await kernel.rateLimits.count('reauthentication-requests-per-ip', visit.address)
    const stored = { ...requested, clientId: app.clientId, source: { address: visit.address } }
    if (leads) {
      const reference = await storePostedRequest(kernel.db, stored, kernel.clock())
      return redirectVisitor(visit.reply, pageOf(app.clientId, reference))
    }
    const { id_token_hint: _hint, login_hint: _login, ui_locales: _languages, ...parameters } = requested.parameters
    const reference = await keepRequest(kernel.db, { ...stored, parameters }, kernel.clock())
    return answer({ show: referringTo(reference, reading.show) }, visit.reply)
  }

  const answer = (reading: SignInOutcome, reply: FastifyReply) => {
    if ('show' in reading) return pages.show(reply, reading.show)
    const { leave: leaving, unverified } = reading
    if (unverified) return pages.show(reply.status(400), { page: 'return', site, leaving, unverified })
    if (!leaving.fields) return redirectVisitor(reply, leaving.url)
    return pages.show(reply, { page: 'return', site, leaving })
  }

  for (const [url, serve] of Object.entries({ '/signin': signIn, '/connect': connect })) {
    for (const [method, part] of [['GET', 'query'] as const, ['POST', 'body'] as const])
      host.route({
        method,
        url,
        config,
        handler: (request, reply) =>
          serve(readSent(request[part]), { reply, address: clientAddressKey(request), isPosted: method === 'POST' }),
      })
  }
}

/** Registers the pages before a sign-in. They name the app, or the invitation, to which the user continues. */
export function entryRoutes(host: Host, { kernel, apps, pages }: AuthorizationServices): void {
  const site = siteSettings(kernel.config)
  const config = { security: 'none', cors: 'no origin', host: 'auth', page: true } as const
  for (const page of ['register', 'login', 'recover'] as const)
    host.route({
      method: 'GET',
      url: `/${page}`,
      config,
      async handler(request, reply) {
        const returnTo = isObject(request.query) ? request.query['return'] : undefined
        if (typeof returnTo !== 'string') return pages.show(reply, { page, site })
        if (returnsToApp(returnTo, site.authUrl)) reply.headers(openerKept)
        const app = await findRequestingApp(apps, returnTo, site.authUrl)
        const invitation = await findInvitationAt(kernel, returnTo, clientAddressKey(request))
        return pages.show(reply, { page, site, ...(app && { app }), ...(invitation && { invitation }) })
      },
    })
  host.route({
    method: 'GET',
    url: '/setup',
    config,
    handler: (_request, reply) => pages.show(reply, { page: 'register', site, setup: true }),
  })
}

/**
 * Checks whether a user returns to a page on the way from an app and back. Before other pages, such as the account, the
 * opener of a popup must not be kept: it would learn from their stricter policy that the user is signed in.
 */
function returnsToApp(returnTo: string, authOrigin: string): boolean {
  const url = URL.parse(returnTo, authOrigin)
  return url?.origin === authOrigin && /^\/(signin|connect|sso\/link)$/.test(url.pathname)
}

/**
 * Returns the app of the authorization request to which a user returns after sign-in, registration or recovery, or
 * undefined if they return elsewhere. An unverified app is named by its host alone, so that nothing is fetched here.
 */
async function findRequestingApp(
  apps: Pick<AppDirectory, 'find'>,
  returnTo: string,
  authOrigin: string,
): Promise<RequestingApp | undefined> {
  const url = URL.parse(returnTo, authOrigin)
  if (url?.origin !== authOrigin || !/^\/(signin|connect)$/.test(url.pathname)) return undefined
  const [clientId = '', ...others] = url.searchParams.getAll('client_id')
  if (others.length > 0) return undefined
  if (isClientIdUrl(clientId)) return { name: URL.parse(clientId)?.host ?? clientId, iconUrl: null }
  const app = await apps.find(asId<ClientId>(clientId))
  return app && { clientId: app.clientId, name: app.name, iconUrl: app.iconUrl }
}

/** Returns the URL of the page for a stored request, of either endpoint. */
function pageOf(clientId: string, requestUri: string): string {
  return `/signin?${new URLSearchParams({ client_id: clientId, request_uri: requestUri }).toString()}`
}

/**
 * Replaces a request by its reference for the page. Without nonce and challenge, the page cannot continue the app's
 * request and omit its other parameters.
 */
function referringTo(
  requestUri: string,
  { nonce: _nonce, codeChallenge: _challenge, ...view }: SignInView,
): SignInView {
  return { ...view, requestUri }
}
