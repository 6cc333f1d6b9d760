import { randomUUID } from 'node:crypto'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { Cors, HostName, Security, SsoSessionUse } from '@countersign/protocol/endpoint'
import { limits } from '@countersign/protocol/formats/limits'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Admission } from './admission.ts'
import { compileWhenAsked } from './compilers.ts'
import { allowOrigin, answerPreflight, type Origins } from './cors.ts'
import { isUnavailable } from '#platform/database/database.ts'
import { isAwaitingBody, proveWithBody } from './guard.ts'
import type { Kernel } from '#platform/module/services.ts'
import { parseForm, parseJson, requireSound, requireUtf8 } from './parse.ts'
import { Refusal, refusals } from '#platform/refusal.ts'
import { Routes } from './route-table.ts'
import { securityHeaders } from './security-headers.ts'
import { objectionToForwarding, trustOf } from './source-address.ts'
import type { Answered } from '#platform/observability/telemetry.ts'
import { version } from '#platform/config/version.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    summary?: string
    security?: Security
    cors?: Cors
    host?: HostName
    /** The media type of a body that no schema describes. */
    consumes?: string | undefined
    /** What a session without a passkey may do here; where it is left out, nothing. */
    ssoSession?: SsoSessionUse
    /**
     * Whether a form may come (`application/x-www-form-urlencoded`); with names, those parameters may come several
     * times, and arrive as one list.
     */
    form?: boolean | { several: string[] }
    /** Whether its faults and refusals are shown as a page. */
    page?: boolean
    /** What it speaks where that is not the JSON of this interface. */
    dialect?: Dialect
  }
}

/** A kind of JSON with a name of its own, in which refusals look otherwise. */
export type Dialect = {
  mediaType: 'application/json' | `application/${string}+json`
  tell: (refusal: Refusal) => object
}

const refuse = refusals({
  invalid_request: [400, 'The request is malformed.'],
  not_found: [404, 'There is nothing at this address.'],
  method_not_allowed: [405, 'This address does not answer to that method.'],
  payload_too_large: [413, 'The body is larger than this address takes.'],
  unsupported_media_type: [415, 'Send application/json, or application/x-www-form-urlencoded where it is allowed.'],
  misdirected_request: [421, 'This address is on another host.'],
  server_error: [500, 'Something failed on our side. It has been logged under this request id.'],
  temporarily_unavailable: [503, 'The service is not available right now. Try again in a moment.'],
})

export type Surroundings = {
  origin: URL
  origins: Origins
  admission: Admission
  /** The origin of the host that has this path, when it is another one. */
  elsewhere: (path: string) => string | undefined
  /** Shows a refusal to a person, where the request was for a page. */
  errorPage: (reply: FastifyReply, refusal: Refusal, requestId: string) => FastifyReply
}

/** One of the three hosts: its routes, and what all of them have in common. */
export function createHost(kernel: Pick<Kernel, 'log' | 'config' | 'telemetry'>, surroundings: Surroundings) {
  const { log, config, telemetry } = kernel
  const { admission } = surroundings
  const app = Fastify({
    bodyLimit: limits.bodyBytesMax,
    trustProxy: trustOf(config.trustProxy),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    logger: false,
    // As long as a path may be: what is too long to be an id is as unknown as any other.
    routerOptions: { maxParamLength: 16 * 1024 },
    // What arrives while the service ends, on a connection that is open still, is answered like everything else.
    return503OnClosing: false,
  }).withTypeProvider<TypeBoxTypeProvider>()
  compileWhenAsked(app)
  const routes = new Routes()
  // Its lines are of our own words alone: there is nothing in them to look for and take out.
  const requestLog = log.child({}, { redact: [] })
  const refused = new WeakMap<FastifyRequest, string>()
  const headers = {
    ...securityHeaders(surroundings.origin),
    'countersign-version': version,
    'cache-control': 'no-store',
  }

  const unrouted = (request: FastifyRequest, reply: FastifyReply) =>
    answerUnrouted(request, reply, { routes, refused, ...surroundings })
  app.addHook('onRoute', (route) => routes.add(route))
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id)
    admission.admit(request, () => {
      const objection = objectionToForwarding(request)
      if (objection !== undefined) warnOfForwarding(log, objection)
      // Before the body is looked at: whoever has the wrong host or path has nothing to correct in it.
      if (request.is404) return void unrouted(request, reply).catch(done)
      const allowed = allowOrigin(request, reply, request.routeOptions.config.cors ?? 'no origin', surroundings.origins)
      if (typeof allowed === 'boolean') return done()
      allowed.then(() => done(), done)
    })
  })
  awaitBodies(app, admission)
  // Also for a caller who has gone meanwhile: then there is no response, and no `onResponse`.
  app.addHook('onSend', (request, _reply, payload, done) => {
    admission.release(request)
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const answered = describeAnswer(request, reply, refused.get(request))
    requestLog.info(answered)
    telemetry.answered(answered, request.headers['traceparent']?.toString())
    done()
  })
  takeBodies(app)
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const refusal = refusalOf(error, request, log)
    refused.set(request, refusal.code)
    reply.status(refusal.status).headers(refusal.headers)
    const { page, dialect } = request.routeOptions.config
    if (page) return surroundings.errorPage(reply, refusal, request.id)
    return dialect ? reply.type(dialect.mediaType).send(dialect.tell(refusal)) : reply.send(refusal.toBody())
  })
  app.setNotFoundHandler(unrouted)
  return Object.assign(app, { routes, release: admission.release })
}
export type Host = ReturnType<typeof createHost>

/** What is done while a body comes, and as soon as it is there. */
function awaitBodies(app: Pick<FastifyInstance, 'addHook'>, admission: Admission): void {
  // A body may take its time to come: nothing is worked on meanwhile, and slow callers must not keep others out.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (isAwaitingBody(request)) admission.release(request)
    done(null, payload)
  })
  // As soon as the body is there, before a word of it counts.
  app.addHook('preValidation', (request, _reply, done) => {
    admission.admit(request, () => {
      const proving = proveWithBody(request)
      if (!proving) return done()
      proving.then(() => done(), done)
    })
  })
  app.addHook('preHandler', (request, _reply, done) => {
    requireSound(request.params)
    requireSound(request.query)
    keepNamed(request.body, request.routeOptions.schema?.body)
    done()
  })
}

/** Bodies as they may come: JSON, and forms and other kinds of JSON where a route takes them. */
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
      if (!form) throw refuse.unsupported_media_type()
      return parseForm(requireUtf8(body), form === true ? [] : form.several)
    },
  )
  app.addContentTypeParser(
    /^application\/[a-z.-]+\+json(?:$|[\s;])/,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      const sent = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
      if (sent !== request.routeOptions.config.dialect?.mediaType) throw refuse.unsupported_media_type()
      return parseJson(requireUtf8(body))
    },
  )
}

function describeAnswer(request: FastifyRequest, reply: FastifyReply, refusal: string | undefined): Answered {
  return {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'none',
    status: reply.statusCode,
    milliseconds: Math.round(reply.elapsedTime * 10) / 10,
    ...(refusal !== undefined && { refusal }),
  }
}

/** Answers where no route is: a preflight request, a wrong method, a path of another host, or nothing at all. */
async function answerUnrouted(
  request: FastifyRequest,
  reply: FastifyReply,
  { routes, refused, ...surroundings }: Surroundings & { routes: Routes; refused: WeakMap<FastifyRequest, string> },
) {
  refused.set(request, 'not_found')
  const path = pathOf(request)
  const found = routes.at(path)
  const methods = [...found.keys()]
  if (request.method === 'OPTIONS' && found.size > 0) {
    const asked = found.get(request.headers['access-control-request-method'] ?? '') ?? 'no origin'
    return answerPreflight(reply, methods, await allowOrigin(request, reply, asked, surroundings.origins))
  }
  if (found.size > 0 && !found.has(request.method))
    throw refuse.method_not_allowed({ headers: { allow: methods.join(', ') } })
  const right = found.size > 0 ? undefined : surroundings.elsewhere(path)
  if (right) throw refuse.misdirected_request({ sentence: `This address is on another host: ${right}${path}` })
  if (!request.headers.accept?.includes('text/html')) throw refuse.not_found()
  return surroundings.errorPage(reply.status(404), refuse.not_found(), request.id)
}

/** The token of `Authorization: Bearer` (RFC 6750 §2.1), where there is one. */
export function bearerToken(request: FastifyRequest): string | undefined {
  return request.headers.authorization?.match(/^Bearer +([\x21-\x7e]+) *$/i)?.[1]
}

const warned = new WeakMap<Kernel['log'], Set<string>>()

/** Each once: whoever sends the header must not fill the log. */
function warnOfForwarding(log: Kernel['log'], objection: string): void {
  const objections = warned.get(log) ?? new Set()
  warned.set(log, objections)
  if (objections.has(objection)) return
  objections.add(objection)
  log.warn({ setting: 'TRUST_PROXY' }, objection)
}

/** Takes out of a body what its schema does not name, at any depth: no handler takes such a field for its own. */
function keepNamed(value: unknown, schema: unknown): void {
  if (!isObject(value) || !isObject(schema)) return
  const { items, properties } = schema
  if (Array.isArray(value)) return value.forEach((item) => keepNamed(item, items))
  if (!isObject(properties)) return
  for (const name of Object.keys(value))
    if (Object.hasOwn(properties, name)) keepNamed(value[name], properties[name])
    else delete value[name]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** The path as it was sent, without its query. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? ''
}

/** What the caller is told of anything thrown. What is not a refusal is our fault: logged once, and not explained. */
function refusalOf(error: FastifyError, request: FastifyRequest, log: Kernel['log']): Refusal {
  if (error instanceof Refusal) return error
  if (error.validation) return refuse.invalid_request({ sentence: describeViolation(error) })
  if (error.statusCode === 413) return refuse.payload_too_large()
  if (error.statusCode === 415) return refuse.unsupported_media_type()
  if (error.statusCode !== undefined && error.statusCode < 500) return refuse.invalid_request()
  if (isUnavailable(error)) {
    log.warn({ requestId: request.id, error }, 'the database is away')
    return refuse.temporarily_unavailable({ headers: { 'retry-after': '2' } })
  }
  log.error({ requestId: request.id, error }, 'a request failed')
  return refuse.server_error({ fields: { requestId: request.id } })
}

/** The first violation of a schema as a sentence, without quoting what was sent. */
function describeViolation({ validation, validationContext }: FastifyError): string {
  const [violation] = validation ?? []
  const place = violation?.instancePath.slice(1).replaceAll('/', '.') || `the ${validationContext ?? 'request'}`
  const missing = violation?.params['missingProperty']
  const surplus = violation?.params['additionalProperty']
  if (typeof missing === 'string') return `${missing} is missing.`
  if (typeof surplus === 'string') return `${surplus} is not a field of this request.`
  if (violation?.keyword === 'pattern' || violation?.keyword === 'format') return `${place} is malformed.`
  return `${place} ${violation?.message ?? 'is malformed'}.`
}
