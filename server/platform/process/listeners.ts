import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { isLocal, type Config } from '#platform/config/config.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { isAwaited } from '#platform/http/patience.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { connectedAddress, trustOf } from '#platform/http/source-address.ts'
import { createBoundedServer } from './connections.ts'
import type { Hosts } from './mount.ts'

export type Listeners = { drain: (withinMilliseconds: number) => Promise<void> }

const requestMilliseconds = 10_000
const checkMilliseconds = 1000

/** The hosts of one port, by the names that requests give for them. */
type PortHosts = { port: number; hosts: { url: URL; host: Host }[] }

/**
 * Listens for the three hosts: on the port of each URL, or on `PORT` for all of them, at the addresses of `HOST`. Where
 * several share a port they are told apart by `Host`; whoever names none of them is answered 421.
 */
export async function listen(hosts: Hosts, { config, log }: Pick<Kernel, 'config' | 'log'>): Promise<Listeners> {
  const servers: Server[] = []
  for (const portHosts of hostsByPort(hosts, config)) {
    const bound = listenEverywhere(config, portHosts.port, () => serverFor(portHosts, { config, log }))
    servers.push(...(await bound))
  }
  return { drain: (milliseconds) => drain([...new Set(Object.values(hosts))], servers, milliseconds) }
}

function hostsByPort(hosts: Hosts, config: Config): PortHosts[] {
  const all = [
    { host: hosts.api, url: config.baseUrl },
    { host: hosts.auth, url: config.authUrl },
    { host: hosts.business, url: config.businessUrl },
  ]
  return [...Map.groupBy(all, ({ url }) => portOf(config, url))].map(([port, own]) => ({ port, hosts: own }))
}

/** Throws where a port is taken. For the primary: workers that share a port by the kernel would not notice. */
export async function requireFreePorts(config: Config): Promise<void> {
  for (const port of new Set([config.baseUrl, config.authUrl, config.businessUrl].map((url) => portOf(config, url)))) {
    const servers = await listenEverywhere(config, port, () => createServer())
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

/** Where a host listens: on `PORT`, or else on the port of its URL. */
export function portOf({ port }: Pick<Config, 'port'>, url: URL): number {
  return port ?? (url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port))
}

function serverFor({ hosts }: PortHosts, { config, log }: Pick<Kernel, 'config' | 'log'>): Server {
  const hostOf = nameHosts(hosts)
  const trust = trustOf(config.trustProxy)
  const server = createBoundedServer(
    {
      requestTimeout: requestMilliseconds,
      headersTimeout: requestMilliseconds,
      connectionsCheckingInterval: checkMilliseconds,
    },
    (request, response) => {
      const host = hostOf(request)
      if (host) return host.routing(request, response)
      const { requestId, headers, body } = answerOutside(log, unnamed)
      response.writeHead(unnamed.status, { ...headers, 'x-request-id': requestId }).end(body)
    },
    {
      networkOf(socket) {
        const ip = connectedAddress(socket, trust)
        return ip === undefined ? undefined : addressKey({ ip })
      },
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

/**
 * Finds the host that a request names. A host with a port of its own is found under its name with any port, on this
 * machine also as `localhost` and by its address; and its probes under any name, since a balancer may know none. Other
 * names are refused there as well: a page of another site may have its own name lead here (DNS rebinding), and would be
 * of one origin with what it asks.
 */
function nameHosts(hosts: PortHosts['hosts']): (request: IncomingMessage) => Host | undefined {
  const byName = new Map(hosts.map(({ url, host }) => [url.host, host]))
  const [only, ...others] = [...new Set(byName.values())]
  if (others.length > 0) return ({ headers }) => byName.get(headers.host?.toLowerCase() ?? '')
  const names = new Set(hosts.flatMap(({ url }) => [url.hostname, ...(isLocal(url) ? localNames : [])]))
  return ({ headers, url }) => {
    const isNamed = names.has(URL.parse(`http://${headers.host}`)?.hostname ?? '')
    return isNamed || probes.has(url ?? '') ? only : undefined
  }
}

/** Whether a `Host` header names this machine itself, with whatever port. */
export function isNamedLocally(header: string | undefined): boolean {
  return localNames.includes(URL.parse(`http://${header}`)?.hostname ?? '')
}

const localNames = ['localhost', '127.0.0.1', '[::1]']
const probes = new Set(['/healthz', '/readyz'])

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

/** Listens on a port at each address of `HOST`, with a server for each. */
export async function listenEverywhere(
  { listenAddresses }: Pick<Config, 'listenAddresses'>,
  port: number,
  create: () => Server,
): Promise<Server[]> {
  const bound = (listenAddresses ?? [undefined]).map((address) => listenAt(create(), port, address))
  return (await Promise.all(bound)).filter((server) => server !== undefined)
}

/** Listens at an address; answers nothing where that is the loopback address of IPv6, and this machine has no IPv6. */
async function listenAt(server: Server, port: number, address: string | undefined): Promise<Server | undefined> {
  try {
    await listening(server, port, address)
    return server
  } catch (error) {
    if (address === '::1' && isWithoutAddress(error)) return undefined
    throw error
  }
}

function isWithoutAddress(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT')
}

/**
 * Listens on a port. Workers share theirs by the kernel where it can (`SO_REUSEPORT`): then no connection passes
 * through the primary, and none hangs that was on its way to a worker which has died. Elsewhere the primary hands them
 * out.
 */
function listening(server: Server, port: number, host: string | undefined): Promise<void> {
  const shared = cluster.isWorker && ['linux', 'freebsd'].includes(process.platform)
  const place = host === undefined ? { port } : { port, host }
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen({ ...place, exclusive: shared, reusePort: shared }, () => resolve())
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
