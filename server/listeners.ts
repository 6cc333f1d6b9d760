import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Config } from '#kernel/config.ts'
import type { Host } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { isAwaited } from '#kernel/patience.ts'
import type { Hosts } from './hosts.ts'

export type Listeners = { drain: (withinMilliseconds: number) => Promise<void> }

const requestMilliseconds = 10_000
const checkMilliseconds = 1000

/**
 * Listens for the three hosts: on the port of each URL, or on `PORT` for all of them. Where several share a port they
 * are told apart by `Host`; whoever names none of them is answered 421.
 */
export async function listen(hosts: Hosts, { config, log }: Pick<Kernel, 'config' | 'log'>): Promise<Listeners> {
  const byPort = new Map<number, Map<string, Host>>()
  for (const [host, url] of [
    [hosts.api, config.baseUrl],
    [hosts.auth, config.authUrl],
    [hosts.business, config.businessUrl],
  ] as const) {
    const port = portOf(config, url)
    byPort.set(port, (byPort.get(port) ?? new Map<string, Host>()).set(url.host, host))
  }
  const servers = [...byPort.values()].map((byName) => serverFor(byName, log))
  await Promise.all([...byPort.keys()].map((port, index) => listening(servers[index], port)))
  return { drain: (milliseconds) => drain([...new Set(Object.values(hosts))], servers, milliseconds) }
}

/** Throws where a port is taken. For the primary: workers that share a port by the kernel would not notice. */
export async function requireFreePorts(config: Config): Promise<void> {
  for (const port of new Set([config.baseUrl, config.authUrl, config.businessUrl].map((url) => portOf(config, url)))) {
    const server = createServer()
    await listening(server, port)
    await new Promise((resolve) => server.close(resolve))
  }
}

/** Where a host listens: on `PORT`, or else on the port of its URL. */
export function portOf({ port }: Pick<Config, 'port'>, url: URL): number {
  return port ?? (url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port))
}

function serverFor(byName: Map<string, Host>, log: Kernel['log']): Server {
  const [only, ...others] = [...new Set(byName.values())]
  const server = createServer(
    {
      requestTimeout: requestMilliseconds,
      headersTimeout: requestMilliseconds,
      connectionsCheckingInterval: checkMilliseconds,
    },
    (request, response) => {
      const host = others.length === 0 ? only : byName.get(request.headers.host?.toLowerCase() ?? '')
      if (host) return host.routing(request, response)
      const { requestId, headers, body } = answerOutside(log, unnamed)
      response.writeHead(unnamed.status, { ...headers, 'x-request-id': requestId }).end(body)
    },
  )
  return server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isAwaited(socket)) return
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const refusal = unreadable[error.code ?? ''] ?? malformed
    const { requestId, headers, body } = answerOutside(log, refusal, error.code)
    const lines = Object.entries({ ...headers, 'x-request-id': requestId, connection: 'close' })
    const head = [`HTTP/1.1 ${refusal.status} ${refusal.title}`, ...lines.map(([name, value]) => `${name}: ${value}`)]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  })
}

/** What is refused before any host has it: a request that names none of them, or is not HTTP as it must be. */
type Outside = { status: number; title: string; error: string; sentence: string }

const unnamed: Outside = {
  status: 421,
  title: 'Misdirected Request',
  error: 'misdirected_request',
  sentence: 'No host of this service has that name.',
}
const malformed: Outside = {
  status: 400,
  title: 'Bad Request',
  error: 'invalid_request',
  sentence: 'The request is not well-formed HTTP.',
}
const unreadable: Record<string, Outside> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    title: 'Request Header Fields Too Large',
    error: 'invalid_request',
    sentence: 'The header is larger than 16 KiB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    title: 'Request Timeout',
    error: 'invalid_request',
    sentence: 'The request did not come within 10 seconds.',
  },
}

function answerOutside(log: Kernel['log'], { status, error, sentence }: Outside, reason?: string) {
  const requestId = randomUUID()
  log.info({
    requestId,
    method: 'none',
    route: 'none',
    status,
    refusal: error,
    ...(reason !== undefined && { reason }),
  })
  const body = JSON.stringify({ error, error_description: sentence })
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  return { requestId, headers, body }
}

/**
 * Listens on a port. Workers share theirs by the kernel where it can (`SO_REUSEPORT`): then no connection passes
 * through the primary, and none hangs that was on its way to a worker which has died. Elsewhere the primary hands them
 * out.
 */
function listening(server: Server | undefined, port: number): Promise<void> {
  const shared = cluster.isWorker && ['linux', 'freebsd'].includes(process.platform)
  return new Promise((resolve, reject) => {
    server?.once('error', reject).listen({ port, exclusive: shared, reusePort: shared }, () => resolve())
  })
}

/**
 * Takes no new connections, answers what has been asked, and cuts what is not done in time. Whoever only waits for
 * something to happen is let go by the hooks of the hosts (`preClose`).
 */
async function drain(hosts: Host[], servers: Server[], withinMilliseconds: number): Promise<void> {
  const late = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), withinMilliseconds)
  const answered = Promise.all(
    servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          server.on('request', (_request, response) => response.setHeader('connection', 'close'))
          server.close(() => resolve())
        }),
    ),
  )
  await Promise.all(hosts.map((host) => host.close()))
  await answered
  clearTimeout(late)
}
