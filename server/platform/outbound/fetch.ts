import { type LookupAddress, type LookupAllOptions, lookup as lookUp } from 'node:dns'
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { BlockList, type LookupFunction, isIP } from 'node:net'
import { boundAnswers } from './awaited-answers.ts'
import { type Config, isLocal, version } from '#platform/config/config.ts'
import { allowEgress } from '#platform/egress.ts'
import { hasPlainHost } from '#platform/origin.ts'

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

/**
 * A failed request with its reason as one word: a code of Node (`ECONNREFUSED`), `address_not_allowed`, `timed_out`,
 * `status_404` or `too_large`. The reason is for the log only: disclosed to the author of the URL, it would turn the
 * service into a port scanner.
 */
export class OutboundError extends Error {
  readonly reason: string

  constructor(reason: string, options?: ErrorOptions) {
    super(`no usable response: ${reason}`, options)
    this.reason = reason
  }
}

/** Special-purpose addresses of the IANA registries, and 6to4, which leads into IPv4. */
const special4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'
const special6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20'

const special = new BlockList()
addSubnets(special4, 'ipv4')
addSubnets(special6, 'ipv6')
/** All other IPv6 addresses are loopback, local, multicast, reserved, or embed IPv4. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

function addSubnets(written: string, family: 'ipv4' | 'ipv6'): void {
  for (const subnet of written.split(' ')) {
    const [network = '', bits] = subnet.split('/')
    special.addSubnet(network, Number(bits), family)
  }
}

/** Checks whether an IP address, as a resolver formats it, is public. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4')
    case 6:
      // An address with a zone is local to a link.
      return !address.includes('%') && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
    default:
      return false
  }
}

/** Resolves names like everything on this machine (`getaddrinfo`), unless a test replaces it. */
type Resolver = (hostname: string, options: LookupAllOptions, callback: Resolved) => void
type Resolved = (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void

function oddityOf(url: URL): string | undefined {
  if (!hasPlainHost(url)) return 'must have a host of letters, digits, hyphens and dots'
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password'
  if (url.hash !== '') return 'must not have a fragment'
  return url.port === '0' ? 'must have a port above 0' : undefined
}

function objectionOf(text: string, isAllowed: (address: string) => boolean): string | undefined {
  const url = /^[\x21-\x7e]+$/.test(text) ? URL.parse(text) : null
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLocal(url)))
    return 'must start with https://, or http:// on localhost'
  const oddity = oddityOf(url)
  if (oddity) return oddity
  const host = hostOf(url)
  // A trailing dot does not change a host name (RFC 1034 §3.1).
  const isThisMachine = isLocal({ hostname: url.hostname.replace(/\.$/, '') })
  const isRefused = isIP(host) === 0 ? isThisMachine && !isAllowed('127.0.0.1') : !isAllowed(host)
  return isRefused ? 'must not lead to a private address' : undefined
}

export function createOutboundClient(
  { baseUrl }: Pick<Config, 'baseUrl'>,
  resolveName: Resolver = lookUp,
): OutboundClient {
  const isAllowed = isLocal(baseUrl) ? () => true : isPublicAddress
  const lookup = lookupAllowed(resolveName, isAllowed)
  // Separate agents: Node's default ones may use a proxy from the environment, which would resolve names itself.
  const agents = { 'http:': new HttpAgent(), 'https:': new HttpsAgent() }
  const bounded = boundAnswers()

  const objectionTo = (text: string) => objectionOf(text, isAllowed)

  return {
    objectionTo,
    post(text, { body, ...sent }) {
      const headers = { ...sent.headers, 'content-length': Buffer.byteLength(body) }
      return ask(text, { ...sent, method: 'POST', headers, body }, async ({ statusCode = 0, headers: answered }) => {
        return { status: statusCode, retryAfter: answered['retry-after'] }
      })
    },
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
    return bounded(() => ask(text, input, hear))
  }

  /** Sends a request and returns the result of `hear` for its response, before the time limit. */
  async function ask<Heard>(
    text: string,
    { method, headers, body, withinMilliseconds, signal }: OutboundRequestOptions,
    hear: Hear<Heard>,
  ): Promise<Heard> {
    if (objectionTo(text) !== undefined) throw new OutboundError('address_not_allowed')
    const ending = new AbortController()
    const end = () => ending.abort(new OutboundError('cut_off'))
    const timer = setTimeout(() => ending.abort(new OutboundError('timed_out')), withinMilliseconds)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    const options = {
      method,
      headers: { ...headers, 'user-agent': `Countersign/${version}` },
      maxHeaderSize: headerBytesMax,
      lookup,
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
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new OutboundError('not_json', { cause })
  }
}

/** Resolves a name and returns no address if any of them is not allowed, because its owner controls all of them. */
function lookupAllowed(resolveName: Resolver, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '')
      const [first] = found
      if (!first || !found.every(({ address }) => isAllowed(address)))
        return callback(new OutboundError('address_not_allowed'), '')
      return options.all ? callback(null, found) : callback(null, first.address, first.family)
    })
  }
}

/** Returns the host of a URL, an IPv6 address without brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replaceAll(/[[\]]/g, '')
}

function reasonOf(error: unknown): string {
  if (error instanceof OutboundError) return error.reason
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed'
}
