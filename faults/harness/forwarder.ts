import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * Passes TCP connections on to a port of this machine. Stopped, it is like a network that loses every packet: open
 * connections and new ones are silent. When it passes on again, so do they, with everything sent meanwhile.
 */
export async function openForwarder(targetPort: number) {
  const pairs = new Set<[Socket, Socket]>()
  let isStopped = false

  const server = createServer((inner) => {
    const outer = connect(targetPort, '127.0.0.1')
    const pair: [Socket, Socket] = [inner, outer]
    pairs.add(pair)
    const cut = () => {
      // A side that has ended is noticed by the other one only while packets pass.
      if (isStopped) return
      pairs.delete(pair)
      for (const socket of pair) socket.destroy()
    }
    for (const socket of pair) socket.setNoDelay(true).on('close', cut).on('error', cut)
    if (!isStopped) join(pair)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the forwarder has no port')

  return {
    port: address.port,
    stop() {
      isStopped = true
      for (const pair of pairs) for (const socket of pair) socket.unpipe().pause()
    },
    passOn() {
      isStopped = false
      for (const pair of pairs) {
        join(pair)
        if (pair.every((socket) => !socket.destroyed)) continue
        pairs.delete(pair)
        for (const socket of pair) socket.destroy()
      }
    },
    async close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}

function join([inner, outer]: [Socket, Socket]): void {
  inner.pipe(outer).pipe(inner)
}
