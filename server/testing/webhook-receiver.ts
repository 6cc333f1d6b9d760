import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

export type ReceivedWebhook = { url: string; headers: Record<string, string>; body: string }

/** Answer of a receiver: a status, optionally with headers or a delay; 204 at the next `release`; or no answer. */
type Saying =
  | number
  | { status: number; headers?: Record<string, string>; afterMilliseconds?: number }
  | 'held'
  | 'nothing'

/** Starts an app's server that receives webhooks. It gives the listed answers first, then 204. */
export async function startWebhookReceiver(sayings: Saying[] = [], port = 0) {
  const received: ReceivedWebhook[] = []
  let held: ServerResponse[] = []
  let hear = () => {}
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    received.push({ url: request.url ?? '', headers: singly(request), body })
    const saying = sayings.shift() ?? 204
    if (typeof saying === 'number') response.writeHead(saying).end()
    if (typeof saying === 'object')
      setTimeout(() => response.writeHead(saying.status, saying.headers).end(), saying.afterMilliseconds ?? 0)
    if (saying === 'held') held.push(response)
    hear()
  }
  const server = createServer((request, response) => void take(request, response)).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  return {
    port: address.port,
    url: `http://localhost:${address.port}/hook`,
    received,
    /** Resolves with the received webhooks when there are `count` of them. */
    async has(count: number): Promise<ReceivedWebhook[]> {
      while (received.length < count) await new Promise<void>((resolve) => (hear = resolve))
      return received
    },
    /** Sends the answers that are held. */
    release(): void {
      const released = held
      held = []
      for (const response of released) response.writeHead(204).end()
    },
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

function singly({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
