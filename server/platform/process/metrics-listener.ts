import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Config } from '#platform/config/config.ts'
import { toPrometheusText, type MetricFamily } from '#platform/observability/metrics.ts'
import { createBoundedServer } from './connections.ts'
import { isNamedLocally, listenEverywhere } from './listeners.ts'

const loopback = /^(?:127\.|::1$)/

/**
 * Serves `GET /metrics` in Prometheus' text format, on a port that only the operator's network should reach. It is
 * never a part of the three hosts. At loopback addresses only requests that name this machine are answered, which
 * protects against DNS rebinding.
 */
export async function listenForMetrics(
  { listenAddresses, metricsPort }: Pick<Config, 'listenAddresses'> & { metricsPort: number },
  read: () => Promise<MetricFamily[]>,
): Promise<() => Promise<void>> {
  const isLocalAlone = listenAddresses?.every((address) => loopback.test(address)) ?? false
  const servers = await listenEverywhere({ listenAddresses }, metricsPort, () =>
    createBoundedServer({ requestTimeout: 5000, headersTimeout: 5000 }, (request, response) => {
      if (isLocalAlone && !isNamedLocally(request.headers.host)) return void response.writeHead(421).end()
      if (!asksForMetrics(request)) return void response.writeHead(404).end()
      void answer(response, read)
    }),
  )
  return async () => {
    const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)))
    servers.forEach((server) => server.closeAllConnections())
    await Promise.all(closed)
  }
}

function asksForMetrics({ method, url }: IncomingMessage): boolean {
  return method === 'GET' && url === '/metrics'
}

async function answer(response: ServerResponse, read: () => Promise<MetricFamily[]>): Promise<void> {
  const families = await read()
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
  response.end(toPrometheusText(families))
}
