import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

const awaited = new WeakSet<Duplex>()

/**
 * Lets the body of a request come for as long as it takes, for a caller who has proved that they may send a large one.
 * Everybody else's has to be there in time, or a few slow callers would hold every connection.
 */
export function awaitBody(request: IncomingMessage): void {
  const { socket } = request
  awaited.add(socket)
  // The next request on this connection may be of somebody else.
  request.once('close', () => awaited.delete(socket))
}

export function isAwaited(socket: Duplex): boolean {
  return awaited.has(socket)
}
