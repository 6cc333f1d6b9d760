import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

/** An authorization response as it arrived: its method, and the parameters of the query and the form. */
export type Arrival = { method: string; contentType: string; query: URLSearchParams; form: URLSearchParams }

export type Parameters = Record<string, string>

type StartedRequest = { endpoint: string; parameters: Parameters; method: 'GET' | 'POST' }

/** A client on its own site that sends browsers to the provider, and records exactly what they bring back. */
export async function openRelyingParty() {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the relying party has no port')
  const origin = `http://client.localhost:${address.port}`
  const started = new Map<string, StartedRequest>()
  let arrived: (arrival: Arrival) => void = () => {}

  server.on('request', (request, response) => {
    const url = new URL(request.url ?? '/', origin)
    const beginning = started.get(url.pathname)
    if (beginning) return begin(response, beginning)
    if (!url.pathname.startsWith('/callback')) return response.writeHead(204).end()
    keep(url, request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })

  async function keep(url: URL, request: IncomingMessage, response: ServerResponse) {
    const { method = '', headers } = request
    const form = new URLSearchParams(method === 'POST' ? await text(request) : '')
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Arrived</title>')
    arrived({ method, contentType: headers['content-type'] ?? '', query: url.searchParams, form })
  }

  return {
    origin,
    callback: `${origin}/callback`,
    /** The URL at which a browser starts a request: it is redirected, or posts a form. */
    begin(beginning: StartedRequest): string {
      const path = `/begin/${randomUUID()}`
      started.set(path, beginning)
      return origin + path
    },
    /** Returns the next response that a browser brings. */
    arrival: () => new Promise<Arrival>((resolve) => (arrived = resolve)),
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

function begin(response: ServerResponse, { endpoint, parameters, method }: StartedRequest): void {
  if (method === 'GET')
    return void response.writeHead(303, { location: `${endpoint}?${new URLSearchParams(parameters)}` }).end()
  const inputs = Object.entries(parameters).map(
    ([name, value]) => `<input type="hidden" name="${attribute(name)}" value="${attribute(value)}">`,
  )
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
  response.end(
    `<form method="post" action="${attribute(endpoint)}">${inputs.join('')}</form>` +
      '<script>document.forms[0].submit()</script>',
  )
}

function attribute(value: string): string {
  return value.replaceAll(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`)
}
