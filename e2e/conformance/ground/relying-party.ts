import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

/** An authorization response as it arrived: by which method, and what stood in the query and in the form. */
export type Arrival = { method: string; contentType: string; query: URLSearchParams; form: URLSearchParams }

export type Parameters = Record<string, string>

type Begun = { endpoint: string; parameters: Parameters; method: 'GET' | 'POST' }

/** A client on a site of its own that sends browsers to the provider, and keeps exactly what they bring back. */
export async function openRelyingParty() {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the relying party listens on no port')
  const origin = `http://client.localhost:${address.port}`
  const begun = new Map<string, Begun>()
  let arrived: (arrival: Arrival) => void = () => {}

  server.on('request', (request, response) => {
    const url = new URL(request.url ?? '/', origin)
    const beginning = begun.get(url.pathname)
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
    /** Where a browser begins a request: it is sent on by a redirect, or by a form that it posts. */
    begin(beginning: Begun): string {
      const path = `/begin/${randomUUID()}`
      begun.set(path, beginning)
      return origin + path
    },
    /** The next answer that a browser brings. */
    arrival: () => new Promise<Arrival>((resolve) => (arrived = resolve)),
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

function begin(response: ServerResponse, { endpoint, parameters, method }: Begun): void {
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
