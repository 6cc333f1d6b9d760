import { lookup as lookUp, type LookupAddress, type LookupAllOptions } from 'node:dns'
import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { boundAnswers } from './awaited-answers.ts'
import { isLocal, type Config } from '#platform/config/config.ts'
import { allowEgress } from '#platform/egress.ts'
import { hasPlainHost } from '#platform/origin.ts'
import { version } from '#platform/config/version.ts'

/**
 * Requests to addresses that others have named: an app's webhook, the document of a client. The machine stands in its
 * operator's network, where such an address must not lead: only public addresses are spoken to, unless the service
 * itself is on localhost. What counts is the address that is connected to, when it is connected to.
 */
export type Outbound = {
  /** What is wrong with a URL, as the end of a sentence; undefined where nothing is. A name is not resolved here. */
  objectionTo: (text: string) => string | undefined
  /**
   * Posts a body and answers the status. No redirect is followed, and nothing of the answer's body is read. Throws
   * `Unreachable`.
   */
  post: (url: string, sent: Sent) => Promise<Answered>
  /**
   * Reads a JSON document: what a 200 brings, uncompressed, from the port that https has everywhere, unless the service
   * itself is on localhost. No redirect is followed. Throws `Unreachable`; refuses `temporarily_unavailable` where
   * too many wait for an answer.
   */
  get: (url: string, wanted: Wanted) => Promise<Document>
  /**
   * Sends a request and reads what it brings, whatever its status and its type: as `get` in all else. Throws and
   * refuses the same.
   */
  exchange: (url: string, wanted: Exchange) => Promise<Exchanged>
}

/** What came back; `retryAfter` as the header says it. */
export type Answered = { status: number; retryAfter: string | undefined }

export type Sent = {
  headers: Record<string, string>
  body: string
  /** How long all of it may take, from the name to the status. */
  withinMilliseconds: number
  signal?: AbortSignal
}

export type Wanted = {
  bodyBytesMax: number
  /** How long all of it may take, from the name to the end of the body. */
  withinMilliseconds: number
  signal?: AbortSignal
}

export type Exchange = Wanted & { method: 'GET' | 'POST'; headers: Record<string, string>; body?: string }
export type Exchanged = { status: number; contentType: string | undefined; body: Buffer }

/** A document as it was sent, and what its headers say of how long it stays good (RFC 9111 §5). */
export type Document = { json: unknown; cacheControl: string | undefined; age: string | undefined }

/**
 * Why there was no answer to use, in one word: a code of Node's (`ECONNREFUSED`), `address_not_allowed`, `timed_out`,
 * `status_404`, `too_large`. It is for the log: told to whoever named the address, it would make of us a scanner.
 */
export class Unreachable extends Error {
  readonly reason: string

  constructor(reason: string, options?: ErrorOptions) {
    super(`There was no answer: ${reason}.`, options)
    this.reason = reason
  }
}

/** What is not the Internet's: IANA's registries of special-purpose addresses, and 6to4, which leads into IPv4. */
const special4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'
const special6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20'

const special = new BlockList()
addSubnets(special4, 'ipv4')
addSubnets(special6, 'ipv6')
/** All others of IPv6 are loopback, local, multicast, reserved, or IPv4 in disguise. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

function addSubnets(written: string, family: 'ipv4' | 'ipv6'): void {
  for (const subnet of written.split(' ')) {
    const [network = '', bits] = subnet.split('/')
    special.addSubnet(network, Number(bits), family)
  }
}

/** Whether an IP address, as a resolver writes it, is one of the public Internet. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4')
    case 6:
      // With a zone it is of this link alone.
      return !address.includes('%') && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
    default:
      return false
  }
}

/** How names become addresses: as everywhere on this machine (`getaddrinfo`), unless somebody knows better. */
type Resolver = (hostname: string, options: LookupAllOptions, callback: Resolved) => void
type Resolved = (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void

function oddityOf(url: URL): string | undefined {
  if (!hasPlainHost(url)) return 'has a host of letters, digits, hyphens and dots'
  if (url.username !== '' || url.password !== '') return 'has no user name or password'
  if (url.hash !== '') return 'has no fragment'
  return url.port === '0' ? 'has a port above 0' : undefined
}

function objectionOf(text: string, isAllowed: (address: string) => boolean): string | undefined {
  const url = /^[\x21-\x7e]+$/.test(text) ? URL.parse(text) : null
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLocal(url)))
    return 'must start with https://, or http:// on localhost'
  const oddity = oddityOf(url)
  if (oddity) return oddity
  const host = hostOf(url)
  // A name that ends with a dot is the same name (RFC 1034 §3.1).
  const isThisMachine = isLocal({ hostname: url.hostname.replace(/\.$/, '') })
  const isRefused = isIP(host) === 0 ? isThisMachine && !isAllowed('127.0.0.1') : !isAllowed(host)
  return isRefused ? 'must not lead to a private address' : undefined
}

export function createOutbound({ baseUrl }: Pick<Config, 'baseUrl'>, resolveName: Resolver = lookUp): Outbound {
  const isAllowed = isLocal(baseUrl) ? () => true : isPublicAddress
  const lookup = lookupAllowed(resolveName, isAllowed)
  // Agents of our own: Node's take a proxy out of the environment, which would resolve names by itself.
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
    async get(text, { bodyBytesMax, ...wanted }) {
      const headers = { accept: 'application/json', 'accept-encoding': 'identity' }
      return read(text, { ...wanted, method: 'GET', headers }, (response) => readDocument(response, bodyBytesMax))
    },
    async exchange(text, { bodyBytesMax, ...wanted }) {
      const length = wanted.body === undefined ? {} : { 'content-length': Buffer.byteLength(wanted.body) }
      const headers = { ...wanted.headers, ...length, 'accept-encoding': 'identity' }
      return read(text, { ...wanted, headers }, (response) => readAnswer(response, bodyBytesMax))
    },
  }

  /** As `ask`, for a request that waits. What is posted has senders with slots of their own. */
  async function read<Heard>(text: string, asked: Asked, hear: Hear<Heard>): Promise<Heard> {
    if (!isLocal(baseUrl)) requireUsualPort(text)
    return bounded(() => ask(text, asked, hear))
  }

  /** Asks, and answers what `hear` makes of the response before its time is over. */
  async function ask<Heard>(
    text: string,
    { method, headers, body, withinMilliseconds, signal }: Asked,
    hear: Hear<Heard>,
  ): Promise<Heard> {
    if (objectionTo(text) !== undefined) throw new Unreachable('address_not_allowed')
    const ending = new AbortController()
    const end = () => ending.abort(new Unreachable('cut_off'))
    const timer = setTimeout(() => ending.abort(new Unreachable('timed_out')), withinMilliseconds)
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
      throw new Unreachable(reasonOf(ending.signal.aborted ? ending.signal.reason : cause), { cause })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
    }
  }
}

const headerBytesMax = 16_384

function requireUsualPort(text: string): void {
  if (URL.parse(text)?.port !== '') throw new Unreachable('address_not_allowed')
}

type Asked = Omit<Sent, 'body' | 'headers'> & {
  method: string
  headers: Record<string, string | number>
  body?: string
}
type Agents = { 'http:': HttpAgent; 'https:': HttpsAgent }
type Options = Pick<Asked, 'method' | 'headers'> & {
  maxHeaderSize: number
  lookup: LookupFunction
  signal: AbortSignal
}
type Hear<Heard> = (response: IncomingMessage) => Promise<Heard>
type Talk<Heard> = {
  body: string | undefined
  agents: Agents
  hear: Hear<Heard>
}

function answerTo<Heard>(url: URL, options: Options, { body, agents, hear }: Talk<Heard>): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'https:'
        ? requestHttps(url, { ...options, agent: agents['https:'] })
        : requestHttp(url, { ...options, agent: agents['http:'] })
    sent.on('response', (response) => resolve(hear(response).finally(() => response.destroy())))
    sent.on('error', reject)
    // Also without an error: where the answer was a change of protocol.
    sent.on('close', () => reject(new Unreachable('closed')))
    sent.end(body)
  })
}

async function readDocument(response: IncomingMessage, bodyBytesMax: number): Promise<Document> {
  const { statusCode, headers } = response
  if (statusCode !== 200) throw new Unreachable(`status_${statusCode}`)
  if (!jsonType.test(headers['content-type'] ?? '')) throw new Unreachable('not_json')
  const json = parseJson(await readUncompressed(response, bodyBytesMax))
  return { json, cacheControl: headers['cache-control'], age: headers.age }
}

/** `application/json`, or a type of its own that is JSON (RFC 6839 §3.1). */
const jsonType = /^application\/(?:[\w.!#$&^+-]+\+)?json\s*(?:;|$)/i

async function readAnswer(response: IncomingMessage, bodyBytesMax: number): Promise<Exchanged> {
  const { statusCode = 0, headers } = response
  const body = await readUncompressed(response, bodyBytesMax)
  return { status: statusCode, contentType: headers['content-type'], body }
}

/** Reads no more than it may, and nothing compressed, whose size only shows when it has been inflated. */
function readUncompressed(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if ((response.headers['content-encoding'] ?? 'identity') !== 'identity') throw new Unreachable('compressed')
  return readBytes(response, bytesMax)
}

function readBytes(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bytesMax) return reject(new Unreachable('too_large'))
      chunks.push(chunk)
    })
    response.on('end', () => resolve(Buffer.concat(chunks)))
    response.on('error', reject)
    response.on('close', () => reject(new Unreachable('closed')))
  })
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new Unreachable('not_json', { cause })
  }
}

/** Resolves a name as ever, and answers nothing if any of its addresses is not allowed: who names it decides on all. */
function lookupAllowed(resolveName: Resolver, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '')
      const [first] = found
      if (!first || !found.every(({ address }) => isAllowed(address)))
        return callback(new Unreachable('address_not_allowed'), '')
      return options.all ? callback(null, found) : callback(null, first.address, first.family)
    })
  }
}

/** The host of a URL; an IPv6 address without its brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replaceAll(/[[\]]/g, '')
}

function reasonOf(error: unknown): string {
  if (error instanceof Unreachable) return error.reason
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed'
}
