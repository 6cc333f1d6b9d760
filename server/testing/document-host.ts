import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'

type Answer = RequestListener | { status?: number; headers?: Record<string, string>; body?: string | Buffer }

/** Starts a server of documents by path, which counts connections and requests. */
export async function startDocumentHost(server: Server = createServer()) {
  const answers = new Map<string, Answer>()
  const requested: IncomingMessage[] = []
  let connections = 0
  server.on('connection', () => (connections += 1))
  server.on('request', (request, response) => {
    requested.push(request)
    const [path = ''] = request.url?.split('?') ?? []
    const answer = answers.get(path) ?? { status: 404 }
    if (typeof answer === 'function') return answer(request, response)
    const { status = 200, headers = {}, body = '' } = answer
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the document host has no port')
  const { port } = address
  return {
    port,
    requested,
    connections: () => connections,
    at: (path: string) => `http://localhost:${port}${path}`,
    /** Sets the answer of a path; returns its URL. */
    answer(path: string, answer: Answer): string {
      answers.set(path, answer)
      return `http://localhost:${port}${path}`
    },
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
