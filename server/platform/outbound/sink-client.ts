import { type ClientRequest, Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { type Config, version } from '#platform/config/config.ts'
import { allowEgress } from '#platform/egress.ts'
import { whileIdle } from '#platform/idle.ts'
import {
  destinationsOf,
  hostOf,
  lookupAllowed,
  objectionOf,
  OutboundError,
  portOf,
  reasonOf,
  type Resolver,
} from './addresses.ts'

/** Receiver of the audit log: where it is, and who has signed its certificate, by default any public authority. */
export type SinkTarget = { kind: 'http' | 'syslog'; url: string; caPem: string | null }

type Sent = {
  /** Maximum duration, from the look-up of the name to the answer. */
  withinMilliseconds: number
  signal: AbortSignal
}

/**
 * Client for receivers of the audit log. Only public addresses are allowed, and those that OUTBOUND_NETWORKS lists,
 * unless the service itself is on localhost. The check applies to the address of the connection, when it is made.
 */
export type SinkClient = {
  /** Returns what is wrong with a URL, as the end of a sentence, or undefined. It does not resolve names. */
  objectionTo: (target: Pick<SinkTarget, 'kind' | 'url'>) => string | undefined
  /** Posts a body and returns the status. It follows no redirect and reads no answer. Throws `OutboundError`. */
  post: (target: SinkTarget, sent: Sent & { headers: Record<string, string>; body: string }) => Promise<number>
  /** Sends bytes over TLS, until the receiver has closed the connection too. Throws `OutboundError`. */
  write: (target: SinkTarget, sent: Sent & { bytes: Buffer }) => Promise<void>
}

export function createSinkClient(
  config: Pick<Config, 'baseUrl' | 'outboundNetworks'>,
  resolveName: Resolver,
): SinkClient {
  // Separate agents: Node's default ones may use a proxy from the environment, which would resolve names itself.
  const agents = { http: new HttpAgent(), https: new HttpsAgent() }
  const { ofOperator } = destinationsOf(config)

  function objectionTo({ kind, url }: Pick<SinkTarget, 'kind' | 'url'>): string | undefined {
    const parsed = parseTarget({ kind, url })
    if (!parsed) return kind === 'http' ? 'is not a URL' : 'must have the form tls://host:port'
    return objectionOf(parsed.href, ofOperator(parsed).isAllowed)
  }

  async function ask<Heard>(
    target: SinkTarget,
    { withinMilliseconds, signal }: Sent,
    work: (at: { url: URL; lookup: ReturnType<typeof lookupAllowed>; ending: AbortSignal }) => Promise<Heard>,
  ): Promise<Heard> {
    const url = parseTarget(target)
    if (!url || objectionTo(target) !== undefined) throw new OutboundError('address_not_allowed')
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new OutboundError('timed_out')), withinMilliseconds)
    const ending = AbortSignal.any([late.signal, signal])
    const lookup = lookupAllowed(resolveName, ofOperator(url), ending)
    try {
      return await whileIdle(() => allowEgress('outbound', () => work({ url, lookup, ending })))
    } catch (cause) {
      throw new OutboundError(signal.aborted ? 'cut_off' : reasonOf(ending.aborted ? ending.reason : cause), { cause })
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    objectionTo,
    post(target, { headers, body, ...sent }) {
      const length = Buffer.byteLength(body)
      const written = { ...headers, 'content-length': length, 'user-agent': `Countersign/${version}` }
      return ask(target, sent, ({ url, lookup, ending }) => {
        const options = { method: 'POST', headers: written, maxHeaderSize: headerBytesMax, lookup, signal: ending }
        return statusOf(
          url.protocol === 'https:'
            ? requestHttps(url, { ...options, agent: agents.https, ...authoritiesOf(target) })
            : requestHttp(url, { ...options, agent: agents.http }),
          body,
        )
      })
    },
    write(target, { bytes, ...sent }) {
      return ask(target, sent, ({ url, lookup, ending }) => {
        const host = hostOf(url)
        const name = isIP(host) === 0 ? { servername: host } : {}
        const options = { host, port: portOf(url), lookup, minVersion: 'TLSv1.2' } as const
        return writeAll(connect({ ...options, ...name, ...authoritiesOf(target) }), bytes, ending)
      })
    },
  }
}

const headerBytesMax = 16_384

function authoritiesOf({ caPem }: SinkTarget): { ca?: string } {
  return caPem === null ? {} : { ca: caPem }
}

/** Sends a request, and returns the status of the answer, which is not read. */
function statusOf(request: ClientRequest, body: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  request.on('response', (response) => {
    resolve(response.statusCode ?? 0)
    response.destroy()
  })
  request.on('error', reject)
  // Also rejects without an error, such as after a change of protocol.
  request.on('close', () => reject(new OutboundError('closed')))
  request.end(body)
  return promise
}

/** Writes bytes and ends the connection. Resolves when the receiver has ended it too. */
function writeAll(socket: TLSSocket, bytes: Buffer, ending: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const cut = () => socket.destroy(new OutboundError('cut_off'))
  ending.addEventListener('abort', cut)
  if (ending.aborted) cut()
  socket.once('secureConnect', () => socket.end(bytes))
  // A receiver answers the end of the connection when it has read everything before (RFC 5425 §4.4).
  socket.once('end', () => (socket.writableFinished ? resolve() : reject(new OutboundError('closed'))))
  socket.once('error', reject)
  socket.once('close', () => reject(new OutboundError('closed')))
  socket.resume()
  return promise.finally(() => {
    ending.removeEventListener('abort', cut)
    socket.destroy()
  })
}

/** Parses the URL of a receiver, that of syslog as one of https, so that its host has one spelling. */
function parseTarget({ kind, url }: Pick<SinkTarget, 'kind' | 'url'>): URL | null {
  if (!/^[\x21-\x7e]{1,2000}$/.test(url)) return null
  if (kind === 'http') return URL.parse(url)
  const [, place = ''] = /^tls:\/\/([^/?#@]+:[1-9]\d{0,4})$/.exec(url) ?? []
  return place === '' ? null : URL.parse(`https://${place}`)
}
