import type { Cors, HostName, Security, SsoSessionUse } from '@countersign/protocol/endpoint'
import type { Permission } from '@countersign/protocol/formats/registries/permissions'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteOptions,
} from 'fastify'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { limits } from '@countersign/protocol/formats/limits'
import type { Admission } from './admission.ts'
import {
  enableLazySchemaCompilation,
  keepNamed,
  parseForm,
  parseJson,
  requireUtf8,
  requireWellFormedStrings,
} from './body.ts'
import { type Origins, allowOrigin, answerPreflight } from './cors.ts'
import { isUnavailable } from '#platform/database/database.ts'
import { isAwaitingBody, proveWithBody } from './guard.ts'
import type { Logger } from '#platform/observability/log.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import { securityHeaders } from './security-headers.ts'
import { objectionToForwarding, trustOf } from '#platform/source-address.ts'
import { describeAnswer } from '#platform/observability/completed-request.ts'
import type { Telemetry } from '#platform/observability/telemetry.ts'
import { type Config, version } from '#platform/config/config.ts'

type Route = { pattern: RegExp; url: string; method: string; cors: Cors; isPage: boolean }

/** Paths of a host and their methods, to answer 405 and preflight requests, and 421 on the other hosts. */
export class Routes {
  readonly #routes: Route[] = []

  add({ url, method, config }: Pick<RouteOptions, 'url' | 'method' | 'config'>): void {
    // regexp: of our own paths, whose parameters are single segments between slashes
    const pattern = new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+').replace('*', '.*')}$`)
    const { cors = 'no origin', page = false } = config ?? {}
    for (const each of [method].flat()) this.#routes.push({ pattern, url, method: each, cors, isPage: page })
  }

  /** Returns the methods of a path, each with the origins that may call it. */
  at(path: string): Map<string, Cors> {
    return new Map(this.#routes.filter(({ pattern }) => pattern.test(path)).map(({ method, cors }) => [method, cors]))
  }

  /** Checks whether browsers open this path as a page. */
  isPage(path: string): boolean {
    return this.#routes.some(({ pattern, method, isPage }) => isPage && method === 'GET' && pattern.test(path))
  }

  has(method: string, url: string): boolean {
    return this.#routes.some((route) => route.method === method && route.url === url)
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    summary?: string
    security?: Security
    cors?: Cors
    host?: HostName
    /** Required by an endpoint of the admin API. */
    permission?: Permission | undefined
    /** True if an operator with a session must have used a passkey within five minutes. */
    recentAuthentication?: boolean
    /** Media type of a body without a schema. */
    consumes?: string | undefined
    /** Permitted use by a session without a passkey. None if absent. */
    ssoSession?: SsoSessionUse
    /** True if it accepts a session that is limited to one identity by a recovery. */
    recoveredSession?: boolean
    /**
     * True if a form (`application/x-www-form-urlencoded`) is accepted. Parameters in `several` may be repeated and
     * become one list. With `repeats`, the route answers other repeated parameters.
     */
    form?: boolean | { several: string[]; repeats?: boolean }
    /** True if the client determines when the response ends. Log and metrics then contain the time to its begin. */
    isFollowed?: boolean
    /** True if errors are shown as a page. */
    page?: boolean
    /** Error format, if it is not the JSON of this interface. */
    dialect?: ErrorFormat
  }
}

/** JSON media type with its own format of errors. */
export type ErrorFormat = {
  mediaType: 'application/json' | `application/${string}+json`
  respond: (refusal: ApiError) => object
}

const errors = defineErrors({
  invalid_request: [400, 'The request is malformed.'],
  not_found: [404, 'Not found.'],
  method_not_allowed: [405, 'Method not allowed. See the Allow header.'],
  payload_too_large: [413, 'The request body exceeds 64 KiB.'],
  unsupported_media_type: [
    415,
    'Content-Type must be application/json, or application/x-www-form-urlencoded where documented.',
  ],
  misdirected_request: [421, 'This path is served by another host.'],
  server_error: [500, 'Internal server error. Quote requestId when you report it.'],
  temporarily_unavailable: [503, 'Service temporarily unavailable. Retry later.'],
})

export type HostOptions = {
  origin: URL
  origins: Origins
  admission: Admission
  /** Returns the host that serves this path, if it is another one. */
  elsewhere: (path: string) => { origin: string; routes: Routes } | undefined
  /** Sends an error as a page, if the request was for a page. */
  errorPage: (reply: FastifyReply, refusal: ApiError, requestId: string) => FastifyReply
}

/** Services that a host takes. */
type HostServices = { log: Logger; config: Config; telemetry: Telemetry }

/** Creates one of the three hosts: its routes, and the behavior that all hosts share. */
export function createHost(kernel: HostServices, surroundings: HostOptions) {
  const { log, config, telemetry } = kernel
  const { admission } = surroundings
  const app = Fastify({
    bodyLimit: limits.bodyBytesMax,
    trustProxy: trustOf(config.trustProxy),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    logger: false,
    // As long as a path can be: an ID that is too long is not found, like any unknown one.
    routerOptions: { maxParamLength: 16 * 1024 },
    // Requests that arrive on an open connection while the service ends are answered normally.
    return503OnClosing: false,
  }).withTypeProvider<TypeBoxTypeProvider>()
  enableLazySchemaCompilation(app)
  app.decorateRequest('place', undefined)
  const routes = new Routes()
  // Request lines contain only known fields, so they need no redaction.
  const requestLog = log.child({}, { redact: [] })
  const refused = new WeakMap<FastifyRequest, string>()
  const headers = {
    ...securityHeaders(surroundings.origin),
    'countersign-version': version,
    'cache-control': 'no-store',
  }

  const report = (request: FastifyRequest, reply: FastifyReply) => {
    const answered = describeAnswer(request, reply, refused.get(request))
    requestLog.info(answered)
    telemetry.answered(answered, request.headers['traceparent']?.toString())
  }
  const unrouted = (request: FastifyRequest, reply: FastifyReply) =>
    answerUnrouted(request, reply, { routes, refused, ...surroundings })
  app.addHook('onRoute', (route) => routes.add(route))
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id)
    admission.admit(request, () => {
      const objection = objectionToForwarding(request)
      if (objection !== undefined) warnOfForwarding(log, objection)
      // Runs before the body is read: with a wrong host or path, the body does not matter.
      if (request.is404) return void unrouted(request, reply).catch(done)
      const allowed = allowOrigin(request, reply, request.routeOptions.config.cors ?? 'no origin', surroundings.origins)
      if (typeof allowed === 'boolean') return done()
      allowed.then(() => done(), done)
    })
  })
  awaitBodies(app, admission)
  // Runs even if the client has disconnected: then there is no response, and no `onResponse`.
  app.addHook('onSend', (request, reply, payload, done) => {
    admission.release(request)
    if (request.routeOptions.config.isFollowed) report(request, reply)
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (!request.routeOptions.config.isFollowed) report(request, reply)
    done()
  })
  takeBodies(app)
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const refusal = refusalOf(error, request, log)
    refused.set(request, refusal.code)
    if (refusal.fault) telemetry.failed(refusal.fault)
    reply.status(refusal.status).headers(refusal.headers)
    const { page, dialect } = request.routeOptions.config
    if (page) return surroundings.errorPage(reply, refusal, request.id)
    return dialect ? reply.type(dialect.mediaType).send(dialect.respond(refusal)) : reply.send(refusal.toBody())
  })
  app.setNotFoundHandler(unrouted)
  return Object.assign(app, { routes, release: admission.release })
}
export type Host = ReturnType<typeof createHost>

/** The three hosts. Hosts with the same origin are the same object. */
export type Hosts = { api: Host; auth: Host; business: Host }

/** Returns each host once. */
export function everyHost({ api, auth, business }: Hosts): Set<Host> {
  return new Set([api, auth, business])
}

/** Releases a request while its body arrives, and admits it again afterwards. */
function awaitBodies(app: Pick<FastifyInstance, 'addHook'>, admission: Admission): void {
  // A body may arrive slowly, and slow callers must not block others meanwhile.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (isAwaitingBody(request)) admission.release(request)
    done(null, payload)
  })
  // Runs when the body has arrived, before it is processed.
  app.addHook('preValidation', (request, _reply, done) => {
    admission.admit(request, () => {
      const proving = proveWithBody(request)
      if (!proving) return done()
      proving.then(() => done(), done)
    })
  })
  app.addHook('preHandler', (request, _reply, done) => {
    requireWellFormedStrings(request.params)
    requireWellFormedStrings(request.query)
    if (request.body !== undefined) keepNamed(request.body, request.routeOptions.schema?.body)
    done()
  })
}

/** Accepts bodies: JSON, and forms and other kinds of JSON where a route accepts them. */
function takeBodies(app: Pick<FastifyInstance, 'addContentTypeParser' | 'removeAllContentTypeParsers'>): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) =>
    parseJson(requireUtf8(body)),
  )
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      const { form } = request.routeOptions.config
      if (!form) throw errors.unsupported_media_type()
      const text = requireUtf8(body)
      return form === true ? parseForm(text) : parseForm(text, form.several, form.repeats)
    },
  )
  app.addContentTypeParser(
    /^application\/[a-z.-]+\+json(?:$|[\s;])/,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      const sent = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
      if (sent !== request.routeOptions.config.dialect?.mediaType) throw errors.unsupported_media_type()
      return parseJson(requireUtf8(body))
    },
  )
}

/**
 * Answers requests without a route: a preflight request, a wrong method, a path of another host, or an unknown path.
 * A browser that opens a page of another host is redirected there.
 */
async function answerUnrouted(
  request: FastifyRequest,
  reply: FastifyReply,
  { routes, refused, ...surroundings }: HostOptions & { routes: Routes; refused: WeakMap<FastifyRequest, string> },
) {
  const path = pathOf(request)
  const found = routes.at(path)
  const methods = [...found.keys()]
  if (request.method === 'OPTIONS' && found.size > 0) {
    const requested = found.get(request.headers['access-control-request-method'] ?? '') ?? 'no origin'
    return answerPreflight(reply, methods, await allowOrigin(request, reply, requested, surroundings.origins))
  }
  if (found.size > 0 && !found.has(request.method))
    throw errors.method_not_allowed({ headers: { allow: methods.join(', ') } })
  const right = found.size > 0 ? undefined : surroundings.elsewhere(path)
  const opensPage = isPageVisit(request)
  if (right && opensPage && right.routes.isPage(path)) return reply.redirect(right.origin + request.url, 302)
  const refusal = right
    ? errors.misdirected_request({ sentence: `This path is on another host: ${right.origin}${path}` })
    : errors.not_found()
  if (!opensPage) throw refusal
  refused.set(request, refusal.code)
  return surroundings.errorPage(reply.status(refusal.status), refusal, request.id)
}

/** Checks whether a browser opens a page. Other callers accept HTML only as any type, or not at all. */
export function isPageVisit({ method = '', headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return ['GET', 'HEAD'].includes(method) && headers.accept?.includes('text/html') === true
}

/** Returns the token of `Authorization: Bearer` (RFC 6750 §2.1), if there is one. */
export function bearerToken(request: FastifyRequest): string | undefined {
  return request.headers.authorization?.match(/^Bearer +([\x21-\x7e]+) *$/i)?.[1]
}

const warned = new WeakMap<Logger, Set<string>>()

/** Logs each objection once, because any client can send the header. */
function warnOfForwarding(log: Logger, objection: string): void {
  const objections = warned.get(log) ?? new Set()
  warned.set(log, objections)
  if (objections.has(objection)) return
  objections.add(objection)
  log.warn({ setting: 'TRUST_PROXY' }, objection)
}

/** Returns the path as it was sent, without its query. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? ''
}

/**
 * Converts any thrown value to an error for the caller. Other values than API errors are faults: they are logged once
 * and not disclosed.
 */
function refusalOf(error: FastifyError, request: FastifyRequest, log: Logger): ApiError {
  if (error instanceof ApiError) return error
  if (error.validation) return errors.invalid_request({ sentence: describeViolation(error) })
  if (error.statusCode === 413) return errors.payload_too_large({ sentence: describeLimit(request) })
  if (error.statusCode === 415) return errors.unsupported_media_type()
  if (error.statusCode !== undefined && error.statusCode < 500) return errors.invalid_request()
  if (isUnavailable(error)) {
    log.warn({ requestId: request.id, error }, 'database unavailable')
    return errors.temporarily_unavailable({ headers: { 'retry-after': '2' }, fault: 'database_unavailable' })
  }
  log.error({ requestId: request.id, error }, 'request failed')
  return errors.server_error({ fields: { requestId: request.id }, fault: 'server_error' })
}

/** Describes the size of a body that a route accepts. */
function describeLimit({ routeOptions: { bodyLimit } }: FastifyRequest): string {
  return `The request body exceeds ${bodyLimit / 1024} KiB.`
}

/** Describes the first violation of a schema, without quoting the input. */
function describeViolation({ validation, validationContext }: FastifyError): string {
  const [violation] = validation ?? []
  const path = violation?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  const place = path || `the ${validationContext ?? 'request'}`
  const within = path && `${path}.`
  const missing = violation?.params['missingProperty']
  const surplus = violation?.params['additionalProperty']
  if (typeof missing === 'string') return `${within}${missing} is missing.`
  if (typeof surplus === 'string') return `${within}${surplus} is not a field of this request.`
  const allowed = violation?.params['allowedValues']
  if (Array.isArray(allowed)) return `${place} must be one of: ${allowed.map(String).join(', ')}.`
  const only = violation?.params['allowedValue']
  if (typeof only === 'string') return `${place} must be ${only}.`
  if (violation?.keyword === 'pattern' || violation?.keyword === 'format') return `${place} is malformed.`
  return `${place} ${violation?.message ?? 'is malformed'}.`
}
