import { lookup as lookUp, type LookupAddress, type LookupAllOptions } from 'node:dns'
import { Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { isLocal, type Config } from './config.ts'
import { version } from './version.ts'

/**
 * Requests to addresses that others have named: an app's webhook, an identity provider. The machine stands in its
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

/** Why there was no answer, in one word: a code of Node's (`ECONNREFUSED`), `address_not_allowed` or `timed_out`. */
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

export function createOutbound({ baseUrl }: Pick<Config, 'baseUrl'>, resolveName: Resolver = lookUp): Outbound {
  const isAllowed = isLocal(baseUrl) ? () => true : isPublicAddress
  const lookup = lookupAllowed(resolveName, isAllowed)
  // Agents of our own: Node's take a proxy out of the environment, which would resolve names by itself.
  const agents = { 'http:': new HttpAgent(), 'https:': new HttpsAgent() }

  function objectionTo(text: string): string | undefined {
    const url = /^[\x21-\x7e]+$/.test(text) ? URL.parse(text) : null
    if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLocal(url)))
      return 'must start with https://, or http:// on localhost'
    if (url.username !== '' || url.password !== '') return 'has no user name or password'
    if (url.hash !== '') return 'has no fragment'
    if (url.port === '0') return 'has a port above 0'
    const host = hostOf(url)
    const isRefused = isIP(host) === 0 ? isLocal(url) && !isAllowed('127.0.0.1') : !isAllowed(host)
    return isRefused ? 'must not lead to a private address' : undefined
  }

  return {
    objectionTo,
    async post(text, { headers, body, withinMilliseconds, signal }) {
      if (objectionTo(text) !== undefined) throw new Unreachable('address_not_allowed')
      const url = new URL(text)
      const ending = new AbortController()
      const end = () => ending.abort(new Unreachable('cut_off'))
      const timer = setTimeout(() => ending.abort(new Unreachable('timed_out')), withinMilliseconds)
      signal?.addEventListener('abort', end)
      if (signal?.aborted) end()
      const options = {
        method: 'POST',
        headers: { ...headers, 'user-agent': `Countersign/${version}`, 'content-length': Buffer.byteLength(body) },
        lookup,
        signal: ending.signal,
      }
      try {
        return await answerTo(url, options, body, agents)
      } catch (cause) {
        throw new Unreachable(reasonOf(ending.signal.aborted ? ending.signal.reason : cause), { cause })
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
      }
    },
  }
}

type Agents = { 'http:': HttpAgent; 'https:': HttpsAgent }
type Options = { method: string; headers: Record<string, string | number>; lookup: LookupFunction; signal: AbortSignal }

function answerTo(url: URL, options: Options, body: string, agents: Agents): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'https:'
        ? requestHttps(url, { ...options, agent: agents['https:'] })
        : requestHttp(url, { ...options, agent: agents['http:'] })
    sent.on('response', (response) => {
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] })
      response.destroy()
    })
    sent.on('error', reject)
    // Also without an error: where the answer was a change of protocol.
    sent.on('close', () => reject(new Unreachable('closed')))
    sent.end(body)
  })
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
