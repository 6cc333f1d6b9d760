import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import {
  type Destination,
  destinationsOf,
  isPublicAddress,
  lookupAllowed,
  objectionOf,
  OutboundError,
  reasonOf,
  type Resolver,
} from './addresses.ts'
import { countJsonColons, jsonMembersMax } from '@countersign/protocol/formats/json'
import { boundAnswers } from './awaited-answers.ts'
import { createHostResolver } from './host-lookup.ts'
import { createSinkClient, type SinkClient } from './sink-client.ts'
import { type Config, isLocal, version } from '#platform/config/config.ts'
import { allowEgress } from '#platform/egress.ts'

export { isPublicAddress, OutboundError }

/**
 * Client for URLs from users: an app's webhook, a client metadata document. Such URLs must not lead into the operator's
 * network, so only public addresses are allowed, unless the service itself is on localhost. The check applies to the
 * address of the connection, when it is made.
 */
export type OutboundClient = {
  /** Returns what is wrong with a URL, as the end of a sentence, or undefined. It does not resolve names. */
  objectionTo: (text: string) => string | undefined
  /**
   * Posts a body and returns the status. It follows no redirect and does not read the response body. Throws
   * `OutboundError`.
   */
  post: (url: string, sent: OutboundPost) => Promise<PostResult>
  /**
   * Fetches a JSON document: an uncompressed 200 response, from the default https port unless the service itself is on
   * localhost. It follows no redirect. Throws `OutboundError`, or `temporarily_unavailable` if too many requests wait.
   */
  get: (url: string, requested: OutboundDocumentRequest) => Promise<Document>
  /** Sends a request and reads the response, of any status and type. Otherwise like `get`, with the same errors. */
  exchange: (url: string, requested: OutboundRequest) => Promise<OutboundResponse>
  /** For URLs that operators name, which may also lead to the private addresses that OUTBOUND_NETWORKS lists. */
  ofOperator: Pick<OutboundClient, 'objectionTo' | 'post'>
  /** Client for receivers of the audit log, which operators name. */
  sinks: SinkClient
}

/** Outcome of a request, with the `Retry-After` header. */
export type PostResult = { status: number; retryAfter: string | undefined }

export type OutboundPost = {
  headers: Record<string, string>
  body: string
  /** Maximum duration, from the look-up of the name to the status. */
  withinMilliseconds: number
  signal?: AbortSignal
}

export type OutboundDocumentRequest = {
  bodyBytesMax: number
  /** Maximum duration, from the look-up of the name to the end of the body. */
  withinMilliseconds: number
  signal?: AbortSignal
}

export type OutboundRequest = OutboundDocumentRequest & {
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
}
export type OutboundResponse = { status: number; contentType: string | undefined; body: Buffer }

/** A document, with the headers that determine its freshness (RFC 9111 §5). */
export type Document = { json: unknown; cacheControl: string | undefined; age: string | undefined }

export function createOutboundClient(
  { baseUrl, outboundNetworks = [] }: Pick<Config, 'baseUrl'> & Partial<Pick<Config, 'outboundNetworks'>>,
  resolveName: Resolver = createHostResolver(),
): OutboundClient {
  const { ofAnyone, ofOperator } = destinationsOf({ baseUrl, outboundNetworks })
  // Separate agents: Node's default ones may use a proxy from the environment, which would resolve names itself.
  const ask = createAsking(resolveName, { 'http:': new HttpAgent(), 'https:': new HttpsAgent() })
  const bounded = boundAnswers()

  const postingBy = (reach: Reach): Pick<OutboundClient, 'objectionTo' | 'post'> => ({
    objectionTo: (text) => objectionOf(text, destinationOf(text, reach).isAllowed),
    post(text, { body, ...sent }) {
      const headers = { ...sent.headers, 'content-length': Buffer.byteLength(body) }
      const posted = { ...sent, method: 'POST', headers, body, reach }
      return ask(text, posted, async ({ statusCode = 0, headers: answered }) => {
        return { status: statusCode, retryAfter: answered['retry-after'] }
      })
    },
  })

  return {
    ...postingBy(ofAnyone),
    ofOperator: postingBy(ofOperator),
    sinks: createSinkClient({ baseUrl, outboundNetworks }, resolveName),
    async get(text, { bodyBytesMax, ...requested }) {
      const headers = { accept: 'application/json', 'accept-encoding': 'identity' }
      return read(text, { ...requested, method: 'GET', headers }, (response) => readDocument(response, bodyBytesMax))
    },
    async exchange(text, { bodyBytesMax, ...requested }) {
      const length = requested.body === undefined ? {} : { 'content-length': Buffer.byteLength(requested.body) }
      const headers = { ...requested.headers, ...length, 'accept-encoding': 'identity' }
      return read(text, { ...requested, headers }, (response) => receiveResponse(response, bodyBytesMax))
    },
  }

  /** Sends a request like `ask`, within the limit of waiting requests. Posts have senders with their own slots. */
  async function read<Heard>(text: string, input: OutboundRequestOptions, hear: Hear<Heard>): Promise<Heard> {
    if (!isLocal(baseUrl)) requireUsualPort(text)
    return bounded(() => ask(text, { ...input, reach: ofAnyone }, hear))
  }
}

/** Returns a function that sends a request and returns the result of `hear` for its response, before the time limit. */
function createAsking(resolveName: Resolver, agents: Agents) {
  return async function ask<Heard>(
    text: string,
    { method, headers, body, withinMilliseconds, signal, reach }: OutboundRequestOptions & { reach: Reach },
    hear: Hear<Heard>,
  ): Promise<Heard> {
    const destination = destinationOf(text, reach)
    if (objectionOf(text, destination.isAllowed) !== undefined) throw new OutboundError('address_not_allowed')
    const ending = new AbortController()
    const end = () => ending.abort(new OutboundError('cut_off'))
    const timer = setTimeout(() => ending.abort(new OutboundError('timed_out')), withinMilliseconds)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    const options = {
      method,
      headers: { ...headers, 'user-agent': `Countersign/${version}` },
      maxHeaderSize: headerBytesMax,
      lookup: lookupAllowed(resolveName, destination, ending.signal),
      signal: ending.signal,
    }
    try {
      return await allowEgress('outbound', () => answerTo(new URL(text), options, { body, agents, hear }))
    } catch (cause) {
      throw new OutboundError(reasonOf(ending.signal.aborted ? ending.signal.reason : cause), { cause })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
    }
  }
}

const headerBytesMax = 16_384

/** Returns where a connection for a URL may lead. */
type Reach = (url: URL) => Destination

function destinationOf(text: string, reach: Reach): Destination {
  const url = URL.parse(text)
  return url ? reach(url) : { isAllowed: () => false, namedBy: 'anyone' }
}

function requireUsualPort(text: string): void {
  if (URL.parse(text)?.port !== '') throw new OutboundError('address_not_allowed')
}

type OutboundRequestOptions = Omit<OutboundPost, 'body' | 'headers'> & {
  method: string
  headers: Record<string, string | number>
  body?: string
}
type Agents = { 'http:': HttpAgent; 'https:': HttpsAgent }
type Options = Pick<OutboundRequestOptions, 'method' | 'headers'> & {
  maxHeaderSize: number
  lookup: LookupFunction
  signal: AbortSignal
}
type Hear<Heard> = (response: IncomingMessage) => Promise<Heard>
type OutboundConversation<Heard> = {
  body: string | undefined
  agents: Agents
  hear: Hear<Heard>
}

function answerTo<Heard>(
  url: URL,
  options: Options,
  { body, agents, hear }: OutboundConversation<Heard>,
): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'https:'
        ? requestHttps(url, { ...options, agent: agents['https:'] })
        : requestHttp(url, { ...options, agent: agents['http:'] })
    sent.on('response', (response) => resolve(hear(response).finally(() => response.destroy())))
    sent.on('error', reject)
    // Also rejects without an error, such as after a change of protocol.
    sent.on('close', () => reject(new OutboundError('closed')))
    sent.end(body)
  })
}

async function readDocument(response: IncomingMessage, bodyBytesMax: number): Promise<Document> {
  const { statusCode, headers } = response
  if (statusCode !== 200) throw new OutboundError(`status_${statusCode}`)
  if (!jsonType.test(headers['content-type'] ?? '')) throw new OutboundError('not_json')
  const json = parseJson(await readUncompressed(response, bodyBytesMax))
  return { json, cacheControl: headers['cache-control'], age: headers.age }
}

/** Matches `application/json` or a type with the suffix `+json` (RFC 6839 §3.1). */
const jsonType = /^application\/(?:[\w.!#$&^+-]+\+)?json\s*(?:;|$)/i

async function receiveResponse(response: IncomingMessage, bodyBytesMax: number): Promise<OutboundResponse> {
  const { statusCode = 0, headers } = response
  const body = await readUncompressed(response, bodyBytesMax)
  return { status: statusCode, contentType: headers['content-type'], body }
}

/**
 * Reads at most the allowed size. Compressed bodies are rejected, because their size is known only after inflating
 * them.
 */
function readUncompressed(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if ((response.headers['content-encoding'] ?? 'identity') !== 'identity') throw new OutboundError('compressed')
  return readBytes(response, bytesMax)
}

function readBytes(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bytesMax) return reject(new OutboundError('too_large'))
      chunks.push(chunk)
    })
    response.on('end', () => resolve(Buffer.concat(chunks)))
    response.on('error', reject)
    response.on('close', () => reject(new OutboundError('closed')))
  })
}

function parseJson(bytes: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (countJsonColons(text) > jsonMembersMax) throw new OutboundError('too_large')
    return JSON.parse(text)
  } catch (cause) {
    throw cause instanceof OutboundError ? cause : new OutboundError('not_json', { cause })
  }
}
