import type { AnyEndpoint } from '@countersign/protocol/endpoint'
import { limits } from '@countersign/protocol/formats/limits'
import * as endpoints from '@countersign/protocol/oauth/authorize'
import type { SignInView } from '@countersign/protocol/pages'
import { pushRequest } from '@countersign/protocol/oauth/pushed-requests'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Host } from '#platform/http/http.ts'
import { siteOf, type Pages } from '#platform/http/page.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { refusals } from '#platform/refusal.ts'
import { tellOrganization } from '#organizations/membership/context.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { accessGuard } from '#tokens/families/access-token.ts'
import { readAuthorizationRequest, type Parameters, type Reading } from './authorization-request.ts'
import { authorize } from './authorize.ts'
import { claimsOf } from '#oauth/token/claims.ts'
import { introspect } from '#oauth/token/introspection.ts'
import { readLogoutRequest } from '#oauth/logout/logout-request.ts'
import { readPresentedToken } from '#oauth/token/presented-token.ts'
import { providerMetadata } from '#oauth/discovery/provider-metadata.ts'
import { answerPushedRequest } from './pushed-request-endpoint.ts'
import { isPushed, keepRequest, openPushed, type KeptRequest } from './pushed-request.ts'
import { revoke } from '#oauth/token/revocation.ts'
import { effectiveScope } from './scope.ts'
import { answerTokenRequest, type TokenEndpoint } from '#oauth/token/endpoint.ts'
import { findIssuer } from '#oauth/discovery/webfinger.ts'

const refuse = refusals({
  invalid_request: [400, 'A parameter is given twice.'],
  invalid_token: [401, 'The access token is for an organization in which the person may not use it any more.'],
})

/** The API half of OAuth and OpenID Connect: authorize, token, push, revoke, introspect, userinfo. */
export function oauthRoutes(host: Host, provider: TokenEndpoint): void {
  const { kernel, apps } = provider
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.authorize,
    onRequest: session.onRequest,
    async handler(request) {
      const asked = { kernel, apps: apps.askedFrom(addressKey(request)) }
      const { leaving, ...given } = await authorize(asked, session.of(request), request.body, kernel.clock())
      return { redirectUrl: leaving.url, ...(leaving.fields && { formFields: leaving.fields }), ...given }
    },
  })

  host.route({
    ...endpoints.requestToken,
    config: { ...endpoints.requestToken.config, form: { several } },
    async handler(request, reply) {
      // RFC 6749 §5.1 asks for it beside `no-store`, which every answer has.
      reply.header('pragma', 'no-cache')
      return answerTokenRequest(provider, sentBy(request))
    },
  })

  host.route({
    ...pushRequest,
    config: { ...pushRequest.config, form: { several } },
    async handler(request, reply) {
      return reply.status(201).send(await answerPushedRequest(provider, sentBy(request)))
    },
  })

  host.route({
    ...endpoints.revoke,
    config: { ...endpoints.revoke.config, form: true },
    async handler(request) {
      const { client, token } = await readPresentedToken(provider, sentBy(request))
      await revoke(provider, client, token, kernel.clock())
      return {}
    },
  })

  host.route({
    ...endpoints.introspect,
    config: { ...endpoints.introspect.config, form: true },
    async handler(request) {
      const { client, token } = await readPresentedToken(provider, sentBy(request))
      return introspect(provider, client, token, kernel.clock())
    },
  })

  userinfoRoutes(host, provider)
}

/** The claims of whoever signed in, by GET and by POST (OpenID Connect Core §5.3.1). */
function userinfoRoutes(host: Host, { kernel, apps, keys }: TokenEndpoint): void {
  const access = accessGuard(kernel, keys)

  for (const endpoint of [endpoints.userinfo, endpoints.userinfoByPost])
    host.route({
      ...endpoint,
      config: { ...endpoint.config, form: true },
      onRequest: access.onRequest,
      async handler(request) {
        if (hasToken(request.query) || hasToken(request.body))
          throw refuse.invalid_request({ sentence: 'Send the access token in the Authorization header alone.' })
        const granted = access.of(request)
        const app = await apps.find(granted.clientId)
        if (!app) throw refuse.invalid_token({ sentence: 'The app of this token is not registered any more.' })
        const told = await tellOrganization(kernel.db, granted)
        if (!told) throw refuse.invalid_token({ headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
        return {
          sub: granted.identityId,
          ...claimsOf(granted, effectiveScope(granted.scope.split(' '), app)),
          ...told,
        }
      },
    })
}

/** What a client sends of itself and of its request. */
function sentBy<Body>(request: { body: Body } & Pick<FastifyRequest, 'headers' | 'ip'>) {
  return { authorization: request.headers.authorization, body: request.body, address: addressKey(request) }
}

/**
 * Where an app sends a browser: to sign in, to let it act at another app, to sign out. Each takes a query and a form.
 */
export function pageRoutes(host: Host, { kernel, apps, keys }: TokenEndpoint, pages: Pages): void {
  const site = siteOf(kernel.config)
  const readerFor = (address: string) => ({ db: kernel.db, apps: apps.askedFrom(address), keys, site })
  const config = { security: 'none', cors: 'no origin', host: 'auth', page: true, form: { several } } as const
  const signIn = async (sent: Parameters, reply: FastifyReply, address: string) => {
    const { client_id: clientId = '', request_uri: requestUri } = sent
    const pushed = requestUri !== undefined && isPushed(requestUri)
    const parameters = pushed ? await openPushed(kernel.db, clientId, requestUri, kernel.clock()) : sent
    const reading = await readAuthorizationRequest(readerFor(address), parameters)
    if ('show' in reading && pushed) return answer({ show: referringTo(requestUri, reading.show) }, reply)
    return answer(await keepForProof(reading, { parameters }, address), reply)
  }

  const connect = async (
    { resource, scope, mode, ...parameters }: Parameters,
    reply: FastifyReply,
    address: string,
  ) => {
    const connector = { resource, scope, mode }
    const reading = await readAuthorizationRequest(readerFor(address), parameters, connector)
    return answer(await keepForProof(reading, { parameters, connector }, address), reply)
  }

  /** Keeps a request for which a passkey must be used, or may have to be, so that its use can name this request. */
  const keepForProof = async (reading: Reading, { parameters, ...asked }: KeptRequest, address: string) => {
    if (!('show' in reading)) return reading
    const { app, prompts, maxAgeSeconds } = reading.show
    if (prompts.includes('none') || (!prompts.includes('login') && maxAgeSeconds === undefined)) return reading
    await kernel.rateLimits.count('sign-in with a proof', address)
    const { id_token_hint: _hint, login_hint: _login, ui_locales: _languages, ...kept } = parameters
    const keeping = { ...asked, parameters: kept, clientId: app.clientId, source: { address } }
    const reference = await keepRequest(kernel.db, keeping, kernel.clock())
    return { show: referringTo(reference, reading.show) }
  }

  const answer = (reading: Reading, reply: FastifyReply) => {
    if ('show' in reading) return pages.show(reply, reading.show)
    const { leave: leaving, unverified } = reading
    if (unverified) return pages.show(reply.status(400), { page: 'return', site, leaving, unverified })
    if (!leaving.fields) return reply.redirect(leaving.url, 303)
    return pages.show(reply, { page: 'return', site, leaving })
  }

  const signOut = async (sent: Parameters, reply: FastifyReply) =>
    pages.show(reply, await readLogoutRequest({ apps, keys, site }, sent))

  for (const [url, serve] of Object.entries({ '/signin': signIn, '/connect': connect, '/logout': signOut })) {
    for (const [method, part] of [['GET', 'query'] as const, ['POST', 'body'] as const])
      host.route({
        method,
        url,
        config,
        handler: (request, reply) => serve(eachOnce(request[part]), reply, addressKey(request)),
      })
  }
}

/**
 * A request of which the page knows the reference. Without nonce and challenge nobody can go on from the page with the
 * request of the app and leave out the rest of it.
 */
function referringTo(
  requestUri: string,
  { nonce: _nonce, codeChallenge: _challenge, ...view }: SignInView,
): SignInView {
  return { ...view, requestUri }
}

/** What anyone may read on the auth host: discovery, the key set, WebFinger. */
export function discoveryRoutes(host: Host, { kernel: { config }, keys }: TokenEndpoint): void {
  const metadata = providerMetadata(config)
  serveDocument(host, endpoints.openidConfiguration, () => metadata)
  serveDocument(host, endpoints.authorizationServerMetadata, () => metadata)
  serveDocument(host, endpoints.jwks, keys.keySet)

  host.route({
    ...endpoints.webfinger,
    async handler(request, reply) {
      const { resource, rel } = request.query
      const answer = findIssuer(config.authUrl, resource, rel)
      return reply.type('application/jrd+json').send(answer)
    },
  })
}

/** Whoever asks the API host for discovery is sent on to the auth host, where it is. */
export function discoveryRedirects(host: Host, authUrl: URL): void {
  for (const { url } of [endpoints.openidConfiguration, endpoints.authorizationServerMetadata])
    host.route({
      method: 'GET',
      url,
      config: { security: 'none', cors: 'any origin' },
      handler: (_request, reply) => reply.redirect(`${authUrl.origin}${url}`, 308),
    })
}

/** Serves a document that is serialized when it changes, and 304 to whoever has it already (RFC 9110 §13.1.2). */
function serveDocument(
  host: Host,
  { method, url, config }: Pick<AnyEndpoint, 'method' | 'url' | 'config'>,
  read: () => object | Promise<object>,
) {
  let served: Served | undefined
  host.route({
    method,
    url,
    config,
    async handler(request, reply) {
      const document = await read()
      if (served?.document !== document) served = serialize(document)
      const { body, headers } = served
      reply.headers(headers)
      return request.headers['if-none-match'] === headers.etag ? reply.status(304).send() : reply.send(body)
    },
  })
}

/** As text: Node writes it with the header at once, and bytes in a second piece, which costs a quarter more. */
type Served = { document: object; body: string; headers: { etag: string } }

function serialize(document: object): Served {
  const body = JSON.stringify(document)
  const headers = {
    etag: `"${sha256(body).toString('base64url').slice(0, 22)}"`,
    'cache-control': `public, max-age=${limits.keySetMaxAgeSeconds}`,
    'content-type': 'application/json; charset=utf-8',
  }
  return { document, body, headers }
}

/** What may come several times (RFC 8707 §2), though then it is no address, and there is no such resource. */
const several = ['resource']

/** Parameters as strings, each once (RFC 6749 §3.1). Refuses `invalid_request`. */
function eachOnce(sent: unknown): Parameters {
  const parameters: Parameters = {}
  for (const [name, given] of Object.entries(sent ?? {})) {
    const value: unknown = Array.isArray(given) && several.includes(name) ? given.join(' ') : given
    if (typeof value !== 'string') throw refuse.invalid_request()
    if (value !== '') parameters[name] = value
  }
  return parameters
}

function hasToken(sent: unknown): boolean {
  return typeof sent === 'object' && sent !== null && 'access_token' in sent
}
