import { createServer, type ServerResponse } from 'node:http'
import { toPrometheusText, type Family } from '#kernel/metrics.ts'

/**
 * Answers `GET /metrics` in Prometheus' text format, on a port that only the operator's network should reach. Never a
 * part of the three hosts.
 */
export async function listenForMetrics(port: number, read: () => Promise<Family[]>): Promise<() => Promise<void>> {
  const server = createServer({ requestTimeout: 5000, headersTimeout: 5000 }, (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end()
    void answer(response, read)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, resolve))
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
}

async function answer(response: ServerResponse, read: () => Promise<Family[]>): Promise<void> {
  const families = await read()
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
  response.end(toPrometheusText(families))
}
