import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { createCertificate } from './certificates.ts'

/** What a receiver does with a connection: reads it, or resets it when the first bytes arrive. */
type Manner = 'read' | 'reset'

/** Starts a receiver of syslog over TLS (RFC 5425). It treats connections as listed, and reads all others. */
export async function startSyslogReceiver(manners: Manner[] = []) {
  const certified = await createCertificate()
  const messages: string[] = []
  let connections = 0
  let news = Promise.withResolvers<void>()
  const underlying = new Map<number | undefined, Socket>()
  const take = (socket: TLSSocket) => {
    connections += 1
    const manner = manners.shift() ?? 'read'
    let received = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      if (manner === 'reset') underlying.get(socket.remotePort)?.resetAndDestroy()
      else received = Buffer.concat([received, chunk])
    })
    socket.on('close', () => {
      messages.push(...framesIn(received))
      news.resolve()
      news = Promise.withResolvers()
    })
  }
  const server = createServer(certified, take).listen(0, '127.0.0.1')
  server.on('connection', (socket: Socket) => void underlying.set(socket.remotePort, socket))
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  return {
    port: address.port,
    url: `tls://localhost:${address.port}`,
    caPem: certified.cert,
    messages,
    connections: () => connections,
    async until(holds: () => boolean): Promise<void> {
      while (!holds()) await news.promise
    },
    async close() {
      await once(server.close(), 'close')
    },
  }
}

/** Returns the complete messages among received bytes: each has its length before (RFC 5425 §4.3). */
function framesIn(received: Buffer): string[] {
  const frames: string[] = []
  for (let at = 0; at < received.length;) {
    const blank = received.indexOf(' ', at)
    const length = Number(received.subarray(at, blank).toString('latin1'))
    if (blank === -1 || !Number.isInteger(length)) throw new Error('a frame does not begin with its length')
    if (blank + 1 + length > received.length) break
    frames.push(received.subarray(blank + 1, blank + 1 + length).toString('utf8'))
    at = blank + 1 + length
  }
  return frames
}
