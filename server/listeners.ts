import { createServer, type Server } from 'node:http'
import type { Config } from '#kernel/config.ts'
import type { Host } from '#kernel/http.ts'
import type { Hosts } from './hosts.ts'

export type Listeners = { drain: (withinMilliseconds: number) => Promise<void> }

const requestMilliseconds = 10_000

/**
 * Listens for the three hosts: on the port of each URL, or on `PORT` for all of them. Where several share a port they
 * are told apart by `Host`; whoever names none of them is answered 421.
 */
export async function listen(hosts: Hosts, config: Config): Promise<Listeners> {
  const byPort = new Map<number, Map<string, Host>>()
  for (const [host, url] of [
    [hosts.api, config.baseUrl],
    [hosts.auth, config.authUrl],
    [hosts.business, config.businessUrl],
  ] as const) {
    const port = config.port ?? portOf(url)
    byPort.set(port, (byPort.get(port) ?? new Map<string, Host>()).set(url.host, host))
  }
  const servers = [...byPort.values()].map(serverFor)
  await Promise.all([...byPort.keys()].map((port, index) => listening(servers[index], port)))
  return { drain: (milliseconds) => drain(servers, milliseconds) }
}

function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
}

function serverFor(byName: Map<string, Host>): Server {
  const [only, ...others] = [...new Set(byName.values())]
  return createServer(
    { requestTimeout: requestMilliseconds, headersTimeout: requestMilliseconds },
    (request, response) => {
      const host = others.length === 0 ? only : byName.get(request.headers.host?.toLowerCase() ?? '')
      if (host) return host.routing(request, response)
      response.writeHead(421, { 'content-type': 'application/json; charset=utf-8' })
      response.end('{"error":"misdirected_request","error_description":"No host of this service has that name."}')
    },
  )
}

function listening(server: Server | undefined, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server?.once('error', reject).listen(port, () => resolve())
  })
}

/** Takes no new connections, answers what has been asked, and cuts what is not done in time. */
async function drain(servers: Server[], withinMilliseconds: number): Promise<void> {
  const late = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), withinMilliseconds)
  await Promise.all(
    servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          server.on('request', (_request, response) => response.setHeader('connection', 'close'))
          server.close(() => resolve())
        }),
    ),
  )
  clearTimeout(late)
}
