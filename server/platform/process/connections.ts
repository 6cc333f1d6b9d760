import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { countersOf } from '#platform/rate-limits/rate-limit-key.ts'

/** How many connections a process has at once, on all of its ports. */
const connectionsMax = 10_000
/**
 * How many of them one network has, an IPv4 address or an IPv6 /64, and ten times as many an IPv6 /48: as many as the
 * requests that a process works on at once. So one that holds all it may leaves most to others.
 */
const connectionsOfNetworkMax = 500
/** After so many requests a connection is closed, as many a proxy does it too. */
const requestsOfConnectionMax = 1000
/** How many requests a connection may have sent before the first of them is answered. */
const pipelinedMax = 8
/** For how long nothing of an answer may leave while there is something that could, or nothing be asked. */
const restMilliseconds = 20_000
const looksOfRest = 5

const open = new Set<Socket>()
const openOfNetworks = new Map<string, number>()

type Bounds = {
  connectionsMax: number
  restMilliseconds: number
  /** The network that a connection counts for; undefined where it comes by a proxy, which bounds those of each. */
  networkOf: (socket: Socket) => string | undefined
}

const usual: Bounds = { connectionsMax, restMilliseconds, networkOf: () => undefined }

/** What a connection asks: what waits for its turn, the first of it being worked on, and how much there was before. */
type Line = { turns: (() => void)[]; answered: number; seen: string; since: number }

/**
 * An HTTP server on whose connections nobody can leave more than one answer waiting. Requests of one connection are
 * worked on one after the other; so what has not been read holds back what was asked after it. A connection is cut when
 * its reader takes nothing for some time, whatever it sends meanwhile. An answer of any length may take as long as it
 * is read, and one that is being worked on as long as that takes.
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
    // Of what has arrived already, Node goes on to read requests when the connection has been cut.
    if (!line || line.turns.length === pipelinedMax || socket.destroyed) return void socket.destroy()
    line.turns.push(() => answer(request, response))
    response.once('close', () => {
      line.turns.shift()
      line.answered += 1
      if (!socket.destroyed) line.turns[0]?.()
    })
    if (line.turns.length === 1) line.turns[0]?.()
  })
  server.maxRequestsPerSocket = requestsOfConnectionMax
  server.on('connection', (socket: Socket) => {
    if (!enter(socket, bounds)) return void socket.destroy()
    lines.set(socket, { turns: [], answered: 0, seen: '', since: performance.now() })
    socket.once('close', () => {
      lines.delete(socket)
    })
  })
  const looking = setInterval(() => cutResting(lines, bounds), bounds.restMilliseconds / looksOfRest).unref()
  return server.once('close', () => clearInterval(looking))
}

/** Counts a connection until it is closed; false where there are as many already as there may be. */
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

/** Cuts the connections on which nothing has moved for too long. */
function cutResting(lines: Map<Socket, Line>, bounds: Bounds): void {
  const now = performance.now()
  for (const [socket, line] of lines) {
    const isWorkedOn = line.turns.length > 0 && socket.writableLength === 0
    const seen = isWorkedOn ? '' : `${line.answered} ${socket.bytesWritten} ${unsentBytes(socket)}`
    if (seen === '' || seen !== line.seen) Object.assign(line, { seen, since: now })
    else if (now - line.since >= bounds.restMilliseconds) socket.destroy()
  }
}

/** How much of what was written has not left yet, also of one large piece, of which Node itself tells no more. */
function unsentBytes(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle')
  const isTold = typeof handle === 'object' && handle !== null && 'writeQueueSize' in handle
  return isTold ? Number(handle.writeQueueSize) : socket.writableLength
}
