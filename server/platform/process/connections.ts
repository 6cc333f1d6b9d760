import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { countersOf } from '#platform/rate-limits/rate-limit-key.ts'

/** Maximum number of connections of a process, on all of its ports. */
const connectionsMax = 10_000
/**
 * Maximum per network, an IPv4 address or an IPv6 /64; ten times as many per IPv6 /48. It equals the number of
 * concurrent requests of a process, so that one network leaves most connections to others.
 */
const connectionsOfNetworkMax = 500
/** Number of requests after which a connection is closed, as in many proxies. */
const requestsOfConnectionMax = 1000
/** Maximum number of pipelined requests that wait for a response. */
const pipelinedMax = 8
/** Maximum time without progress while response data could leave, or without a request. */
const restMilliseconds = 20_000
const looksOfRest = 5
/** Time without a request after which Node closes the connection of a client, a second later. */
const clientIdleMilliseconds = 5000
/**
 * The same for a trusted proxy. Longer than usual proxies keep idle connections (two minutes): a request that such a
 * proxy sends while the connection is closed is lost, and no proxy repeats a POST.
 */
const proxyIdleMilliseconds = 125_000

const open = new Set<Socket>()
const openOfNetworks = new Map<string, number>()

type Bounds = {
  connectionsMax: number
  restMilliseconds: number
  /** Returns the network that a connection counts for, or undefined for a proxy, which limits its own clients. */
  networkOf: (socket: Socket) => string | undefined
  /** Checks for a trusted proxy, whose connections are kept between requests. */
  isProxy: (socket: Socket) => boolean
  proxyIdleMilliseconds: number
}

const usual: Bounds = {
  connectionsMax,
  restMilliseconds,
  networkOf: () => undefined,
  isProxy: () => false,
  proxyIdleMilliseconds,
}

/**
 * Requests of a connection: waiting ones, of which the first is in progress; and the state at the last check, with the
 * number of checks since it was first seen.
 */
type Line = { isProxy: boolean; turns: (() => void)[]; answered: number; seen: string; looks: number }

/**
 * Creates an HTTP server on whose connections a client can leave at most one response unread. Requests of a connection
 * run one after the other, so an unread response holds back later requests. A connection is cut when its client reads
 * nothing for some time, whatever it sends meanwhile. Only a trusted proxy may leave it unused for longer. A response
 * may take as long as the client keeps reading it, and a request as long as its processing takes.
 */
export function createBoundedServer(
  options: ServerOptions,
  answer: RequestListener,
  given: Partial<Bounds> = {},
): Server {
  const bounds = { ...usual, ...given }
  const lines = new Map<Socket, Line>()
  const server = createServer(options, (request, response) => {
    const { socket } = request
    const line = lines.get(socket)
    // Node continues to parse received requests after the connection is cut.
    if (!line || line.turns.length === pipelinedMax || socket.destroyed) return void socket.destroy()
    line.turns.push(() => answer(request, response))
    response.once('close', () => {
      line.turns.shift()
      line.answered += 1
      if (socket.destroyed) return
      // Node has just set its own timeout, and removes this one at the next request.
      if (line.isProxy && line.turns.length === 0) socket.setTimeout(bounds.proxyIdleMilliseconds)
      line.turns[0]?.()
    })
    if (line.turns.length === 1) line.turns[0]?.()
  })
  server.maxRequestsPerSocket = requestsOfConnectionMax
  server.keepAliveTimeout = clientIdleMilliseconds
  server.on('connection', (socket: Socket) => {
    if (!enter(socket, bounds)) return void socket.destroy()
    lines.set(socket, { isProxy: bounds.isProxy(socket), turns: [], answered: 0, seen: '', looks: 0 })
    socket.once('close', () => {
      lines.delete(socket)
    })
  })
  const looking = setInterval(() => cutResting(lines, bounds), bounds.restMilliseconds / looksOfRest).unref()
  return server.once('close', () => clearInterval(looking))
}

/** Counts a connection until it is closed. Returns false if the limit is reached. */
function enter(socket: Socket, bounds: Bounds): boolean {
  const network = bounds.networkOf(socket)
  const counters = network === undefined ? [] : countersOf(network, connectionsOfNetworkMax)
  const isUsedUp = counters.some(({ key, points }) => (openOfNetworks.get(key) ?? 0) >= points)
  if (isUsedUp || open.size >= bounds.connectionsMax) return false
  const count = (key: string, one: 1 | -1) => {
    const now = (openOfNetworks.get(key) ?? 0) + one
    if (now === 0) openOfNetworks.delete(key)
    if (now > 0) openOfNetworks.set(key, now)
  }
  open.add(socket)
  for (const { key } of counters) count(key, 1)
  socket.once('close', () => {
    open.delete(socket)
    for (const { key } of counters) count(key, -1)
  })
  return true
}

/**
 * Cuts connections without progress. Counts checks, not time: after a standstill of the machine, clients have their
 * time to continue.
 */
function cutResting(lines: Map<Socket, Line>, bounds: Bounds): void {
  const lookMilliseconds = bounds.restMilliseconds / looksOfRest
  for (const [socket, line] of lines) {
    const isWorkedOn = line.turns.length > 0 && socket.writableLength === 0
    const seen = isWorkedOn ? '' : `${line.answered} ${socket.bytesWritten} ${unsentBytes(socket)}`
    if (seen === '' || seen !== line.seen) Object.assign(line, { seen, looks: 0 })
    else if ((line.looks += 1) * lookMilliseconds >= restOf(socket, line, bounds)) socket.destroy()
  }
}

/** Returns how long a connection may be without progress: for a proxy, longer between requests. */
function restOf(socket: Socket, { isProxy, turns, answered }: Line, bounds: Bounds): number {
  const isBetweenRequests = turns.length === 0 && answered > 0 && unsentBytes(socket) === 0
  return isProxy && isBetweenRequests ? bounds.proxyIdleMilliseconds : bounds.restMilliseconds
}

/**
 * Returns the number of written bytes that have not left yet, including those of one large chunk, which Node does not
 * report.
 */
function unsentBytes(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle')
  const isNotified = typeof handle === 'object' && handle !== null && 'writeQueueSize' in handle
  return isNotified ? Number(handle.writeQueueSize) : socket.writableLength
}
