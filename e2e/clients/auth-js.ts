import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Auth, type AuthConfig } from '@auth/core'
import type { Served } from '../../server/testing/service.ts'
import { greeting, openSite } from './site.ts'

/** A server with unmodified Auth.js, which finds the provider by discovery. */
export async function openAuthJs(service: Served) {
  const site = await openSite(service, 'auth-js')
  const { clientId, clientSecret = '' } = await site.register('/auth/callback/countersign')
  const config: AuthConfig = {
    basePath: '/auth',
    secret: randomBytes(32).toString('hex'),
    trustHost: true,
    providers: [
      { id: 'countersign', name: 'Countersign', type: 'oidc', issuer: service.authUrl, clientId, clientSecret },
    ],
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await requestOf(incoming, site.origin)
    if (new URL(request.url).pathname.startsWith('/auth')) return send(await Auth(request, config), response)
    const { headers } = request
    const session = await Auth(new Request(`${site.origin}/auth/session`, { headers }), config)
    const { user } = (await session.json()) as { user?: { name?: string } }
    response.setHeader('content-type', 'text/html').end(greeting(user?.name ?? 'stranger'))
  }
  site.serve((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  return site
}

async function requestOf(incoming: IncomingMessage, origin: string): Promise<Request> {
  const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)])
  const method = incoming.method ?? 'GET'
  return new Request(`${origin}${incoming.url}`, {
    method,
    headers,
    ...(method === 'POST' && { body: await text(incoming) }),
  })
}

async function send(answered: Response, response: ServerResponse): Promise<void> {
  response.statusCode = answered.status
  for (const [name, value] of answered.headers) if (name !== 'set-cookie') response.setHeader(name, value)
  response.setHeader('set-cookie', answered.headers.getSetCookie())
  response.end(await answered.text())
}
