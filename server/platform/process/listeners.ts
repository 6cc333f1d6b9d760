import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { isLocal, type Config } from '#platform/config/config.ts'
import { portOf } from '#platform/config/port.ts'
import { type Host, isPageVisit } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { isExemptFromBodyTimeout } from '#platform/http/body.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { connectedAddress, isTrustedProxy, trustOf } from '#platform/source-address.ts'
import { dataPolicy } from '#platform/http/security-headers.ts'
import { createBoundedServer } from './connections.ts'
import type { Hosts } from '#platform/http/host.ts'

export type Listeners = { servers: readonly Server[]; drain: (withinMilliseconds: number) => Promise<void> }

const requestMilliseconds = 10_000
const checkMilliseconds = 1000

/** Hosts of one port, by the names that requests use. */
type PortHosts = { port: number; hosts: { url: URL; host: Host }[] }

/**
 * Listens for the three hosts: on the port of each URL, or on `PORT` for all of them, at the addresses of `HOST`. Hosts
 * that share a port are selected by `Host`; other names get 421.
 */
export async function listen(hosts: Hosts, { config, log }: Pick<ServerContext, 'config' | 'log'>): Promise<Listeners> {
  const servers: Server[] = []
  for (const portHosts of hostsByPort(hosts, config)) {
    const bound = listenEverywhere(config, portHosts.port, () => serverFor(portHosts, { config, log }))
    servers.push(...(await bound))
  }
  return { servers, drain: (milliseconds) => drain([...new Set(Object.values(hosts))], servers, milliseconds) }
}

function hostsByPort(hosts: Hosts, config: Config): PortHosts[] {
  const all = [
    { host: hosts.api, url: config.baseUrl },
    { host: hosts.auth, url: config.authUrl },
    { host: hosts.business, url: config.businessUrl },
  ]
  return [...Map.groupBy(all, ({ url }) => portOf(config, url))].map(([port, own]) => ({ port, hosts: own }))
}

/** Throws if a port is in use. For the primary, because workers that share a port in the kernel would not notice. */
export async function requireFreePorts(config: Config): Promise<void> {
  for (const port of new Set([config.baseUrl, config.authUrl, config.businessUrl].map((url) => portOf(config, url)))) {
    const servers = await listenEverywhere(config, port, () => createServer())
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

function serverFor({ hosts }: PortHosts, { config, log }: Pick<ServerContext, 'config' | 'log'>): Server {
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
      const { requestId, headers, body } = answerOutside(log, unnamed, { asPage: isPageVisit(request) })
      response.writeHead(unnamed.status, { ...headers, 'x-request-id': requestId }).end(body)
    },
    {
      networkOf(socket) {
        const ip = connectedAddress(socket, trust)
        return ip === undefined ? undefined : clientAddressKey({ ip })
      },
      isProxy: (socket) => isTrustedProxy(socket, trust),
    },
  )
  return server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isExemptFromBodyTimeout(socket)) return
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const refusal = unreadable[error.code ?? ''] ?? malformed
    const { requestId, headers, body } = answerOutside(log, refusal, { reason: error.code })
    const lines = Object.entries({ ...headers, 'x-request-id': requestId, connection: 'close' })
    const head = [`HTTP/1.1 ${refusal.status} ${refusal.title}`, ...lines.map(([name, value]) => `${name}: ${value}`)]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  })
}

/**
 * Returns the function that finds the host of a request. A host with its own port is found by its name with any port,
 * and on this machine also as `localhost` and by its address. Its health checks are found under any name, because a
 * load balancer may know none. Other names are rejected there too: another site could point its name here (DNS
 * rebinding) and would share the origin.
 */
function nameHosts(hosts: PortHosts['hosts']): (request: IncomingMessage) => Host | undefined {
  const byName = new Map(hosts.map(({ url, host }) => [url.host, host]))
  const [only, ...others] = [...new Set(byName.values())]
  if (others.length > 0) return ({ headers }) => byName.get(headers.host?.toLowerCase() ?? '')
  const names = new Set(hosts.flatMap(({ url }) => [url.hostname, ...(isLocal(url) ? localNames : [])]))
  // Nearly all requests have the same header.
  let last = { header: '', isNamed: false }
  return ({ headers: { host = '' }, url }) => {
    if (host !== last.header) last = { header: host, isNamed: names.has(URL.parse(`http://${host}`)?.hostname ?? '') }
    return last.isNamed || probes.has(url ?? '') ? only : undefined
  }
}

/** Checks whether a `Host` header names this machine, with any port. */
export function isNamedLocally(header: string | undefined): boolean {
  return localNames.includes(URL.parse(`http://${header}`)?.hostname ?? '')
}

const localNames = ['localhost', '127.0.0.1', '[::1]']
const probes = new Set(['/healthz', '/readyz'])

/** Error before a host is selected: a request that names no host, or is not valid HTTP. */
type Outside = { status: number; title: string; error: string; sentence: string }

const unnamed: Outside = {
  status: 421,
  title: 'Misdirected Request',
  error: 'misdirected_request',
  sentence: 'The Host header names no host of this service.',
}
const malformed: Outside = {
  status: 400,
  title: 'Bad Request',
  error: 'invalid_request',
  sentence: 'The request is not valid HTTP.',
}
const unreadable: Record<string, Outside> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    title: 'Request Header Fields Too Large',
    error: 'invalid_request',
    sentence: 'The request header is larger than 16 KiB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    title: 'Request Timeout',
    error: 'invalid_request',
    sentence: 'The request did not arrive within 10 seconds.',
  },
}

type OutsideAnswer = { reason?: string | undefined; asPage?: boolean }

function answerOutside(
  log: ServerContext['log'],
  { status, error, sentence }: Outside,
  { reason, asPage = false }: OutsideAnswer,
) {
  const requestId = randomUUID()
  log.info({
    requestId,
    method: 'none',
    route: 'none',
    status,
    refusal: error,
    ...(reason !== undefined && { reason }),
  })
  const body = asPage ? pageOf(sentence) : JSON.stringify({ error, error_description: sentence })
  const headers = {
    'content-type': asPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'content-security-policy': dataPolicy,
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  return { requestId, headers, body }
}

/** A page without anything to load. It names no host: another site could point its name here and read the page. */
function pageOf(sentence: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Unknown address</title>
<h1>Unknown address</h1>
<p>${sentence} Check the address, or ask the operator for it.</p>
</html>
`
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

/** Listens at an address. Returns undefined for the IPv6 loopback address on a machine without IPv6. */
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

/** Connections that the kernel holds until they are accepted, if `net.core.somaxconn` permits as many. */
const backlog = 4096

/**
 * Listens on a port. Workers share it in the kernel where possible (`SO_REUSEPORT`): then no connection passes through
 * the primary, and none is lost with a worker that has died. Elsewhere the primary distributes connections.
 */
function listening(server: Server, port: number, host: string | undefined): Promise<void> {
  const shared = cluster.isWorker && ['linux', 'freebsd'].includes(process.platform)
  const place = host === undefined ? { port } : { port, host }
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen({ ...place, backlog, exclusive: shared, reusePort: shared }, () => resolve())
  })
}

/**
 * Accepts no new connections, answers pending requests, and cuts those that take too long. The hosts' hooks
 * (`preClose`) end requests that only wait for an event.
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
