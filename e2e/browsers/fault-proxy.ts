import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

const scriptPath = '/records-faults.js'

/** Records the faults of a page. It is the first script of each page. */
function recordFaults(): void {
  const faults: string[] = []
  Object.assign(globalThis, { faults })
  const nameOf = (target: EventTarget | null) => (target instanceof Element ? target.outerHTML : undefined)
  // Only while it is captured does the event of a file that was not loaded come here.
  addEventListener('error', (event) => faults.push(event.message ?? `not loaded: ${nameOf(event.target)}`), true)
  addEventListener('unhandledrejection', ({ reason }) => faults.push(`rejected: ${reason}`))
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
    faults.push(`violated its policy: ${effectiveDirective} ${blockedURI}`),
  )
}

/**
 * An HTTP proxy that adds a script to each page, before its own scripts, for a browser whose WebDriver cannot. It comes
 * from the origin of the page, so that the policy of the page permits it.
 */
export async function startFaultProxy() {
  const server = createServer((request, response) => {
    forward(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    address: `127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '')
  if (url.pathname === scriptPath) {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(`(${recordFaults})()`)
    return
  }
  // The shop is on a name that only browsers resolve.
  const target = { host: 'localhost', port: url.port, path: url.pathname + url.search, method: request.method }
  const sent = send({ ...target, headers: { ...request.headers, 'accept-encoding': 'identity' } })
  request.pipe(sent)
  const [answer]: IncomingMessage[] = await once(sent, 'response')
  if (!answer) throw new Error('the service did not answer')
  const { 'content-length': _length, ...headers } = answer.headers
  const isPage = headers['content-type']?.startsWith('text/html') ?? false
  response.writeHead(answer.statusCode ?? 500, isPage ? headers : answer.headers)
  if (!isPage) return pipeline(answer, response)
  response.end((await text(answer)).replace('<head>', `<head><script src="${scriptPath}"></script>`))
}
