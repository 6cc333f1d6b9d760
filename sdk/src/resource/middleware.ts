import { Challenge } from './challenge.ts'
import type { DelegatedToken } from './delegated-token.ts'
import type { ResourceMetadata } from './metadata.ts'

/** Verifies an `Authorization` header. Throws a challenge, or `verification_unavailable`. */
export type TokenVerifier = (authorization: string | undefined, requested: RequiredToken) => Promise<DelegatedToken>

export type RequiredToken = {
  /** The scopes that a token must have, separated by spaces. */
  scope?: string | undefined
}

/** The part of the requests and responses of `node:http` that is used, also by Express, Connect and others. */
type Request = {
  method?: string | undefined
  url?: string | undefined
  originalUrl?: string
  headers: { authorization?: string | undefined }
  delegated?: DelegatedToken
}
type Response = {
  writeHead: (status: number, headers: Record<string, string>) => { end: (body: string) => unknown }
}
type Next = (error?: unknown) => void

export type ResourceMiddleware<Answer> = (request: Request, response: Response, next: Next) => Answer

const json = { 'content-type': 'application/json' }

/** Any page can read the metadata, because it contains no secret and needs no cookie. */
const metadataHeaders = { ...json, 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=3600' }

/** Passes requests with a valid token on, with `request.delegated`; responds to the others. */
export function requireDelegatedToken(
  guard: TokenVerifier,
  requested: RequiredToken,
): ResourceMiddleware<Promise<void>> {
  return async (request, response, next) => {
    try {
      request.delegated = await guard(request.headers.authorization, requested)
    } catch (error) {
      if (!(error instanceof Challenge)) return next(error)
      const { status, headers, body } = error
      response.writeHead(status, { ...json, ...headers }).end(JSON.stringify(body))
      return
    }
    next()
  }
}

/** Responds with the resource metadata, and to no other path. */
export function protectedResourceMetadataMiddleware({ path, document }: ResourceMetadata): ResourceMiddleware<void> {
  const body = JSON.stringify(document)
  return ({ method, url, originalUrl = url }, response, next) => {
    const isMatch = originalUrl === path && (method === 'GET' || method === 'HEAD')
    if (!isMatch) return next()
    response.writeHead(200, metadataHeaders).end(method === 'HEAD' ? '' : body)
  }
}

/** The part of Fastify that is used, so that the SDK does not depend on it. */
type PluginRequest = { headers: { authorization?: string | undefined } }
type Reply = {
  code: (status: number) => Reply
  headers: (headers: Record<string, string>) => Reply
  send: (body: unknown) => unknown
}
type Handler = (request: PluginRequest, reply: Reply) => Promise<unknown>
type Scope = {
  prefix: string
  hasRequestDecorator: (name: string) => boolean
  decorateRequest: (name: string, value: null) => unknown
  addHook: (name: 'onRequest', hook: Handler) => unknown
  get: (path: string, handler: Handler) => unknown
}

export type ResourcePlugin<Options extends object> = (scope: Scope, options: Options) => Promise<void>

/** Passes requests with a valid token on, with `request.delegated`, in the scope in which the plugin is registered. */
export function delegatedTokenPlugin(guard: TokenVerifier): ResourcePlugin<RequiredToken> {
  return inOwnScope(async (scope, requested) => {
    if (!scope.hasRequestDecorator('delegated')) scope.decorateRequest('delegated', null)
    scope.addHook('onRequest', async (request, reply) => {
      try {
        Object.assign(request, { delegated: await guard(request.headers.authorization, requested) })
      } catch (error) {
        if (!(error instanceof Challenge)) throw error
        return reply
          .code(error.status)
          .headers({ ...json, ...error.headers })
          .send(error.body)
      }
    })
  })
}

/** Responds with the resource metadata. */
export function metadataPlugin({ path, document }: ResourceMetadata): ResourcePlugin<object> {
  return async (scope) => {
    if (scope.prefix !== '') throw new TypeError('The resource metadata must be registered at the root of the host')
    scope.get(path, async (_, reply) => reply.headers(metadataHeaders).send(document))
  }
}

/** Without this mark Fastify would give the plugin a scope of its own, without routes to protect. */
function inOwnScope<Plugin extends object>(plugin: Plugin): Plugin {
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
