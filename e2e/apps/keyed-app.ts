import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import { parseAppKeyFragment, type AppKeyDelivery } from '@countersign/protocol/formats/encryption/app-key-fragment'
import type { Served } from '../../server/testing/service.ts'

export type KeyedApp = Awaited<ReturnType<typeof openKeyedApp>>

/**
 * An app on its own site that requests an end-to-end encryption key. Its page leaves the URL unchanged for the test to
 * read, and the requests to its server are recorded.
 */
export async function openKeyedApp(service: Served) {
  const received: string[] = []
  const server = createServer((request, response) => {
    received.push(`${request.url}\n${JSON.stringify(request.headers)}`)
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end('<!doctype html><html lang="en"><title>Notes</title><h1>Notes</h1></html>')
  }).listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the app has no port')
  const origin = `http://notes.localhost:${address.port}`
  const redirectUri = `${origin}/callback`
  const registered = await fetch(`${service.baseUrl}/api/admin/apps`, {
    method: 'POST',
    headers: { ...service.admin, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Notes', redirectUris: [redirectUri], public: true, supportsE2ee: true }),
  })
  const { clientId }: { clientId: string } = JSON.parse(await registered.text())
  const verifier = randomBytes(32).toString('base64url')

  return {
    origin,
    clientId,
    /** All requests of browsers to the app's server. */
    received,
    signInUrl(requested: Record<string, string> = {}): string {
      const challenge = createHash('sha256').update(verifier).digest('base64url')
      return `${service.authUrl}/signin?${new URLSearchParams({
        client_id: clientId,
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: 'openid profile',
        state: 'from-notes',
        code_challenge: challenge,
        code_challenge_method: 'S256',
        ...requested,
      })}`
    },
    /** The response that the browser brought: the query, and the fragment without its `#`. */
    async answerIn(page: Page): Promise<{ query: URLSearchParams; fragment: string }> {
      await page.waitForURL((url) => url.origin === origin)
      const url = new URL(page.url())
      return { query: url.searchParams, fragment: url.hash.slice(1) }
    },
    /** Registers another redirect URI, which it returns. */
    async addRedirectUri(path: string): Promise<string> {
      const added = `${origin}${path}`
      const answer = await fetch(`${service.baseUrl}/api/admin/apps/${clientId}`, {
        method: 'PATCH',
        headers: { ...service.admin, 'content-type': 'application/json' },
        body: JSON.stringify({ redirectUris: [redirectUri, added] }),
      })
      if (!answer.ok) throw new Error(await answer.text())
      return added
    },
    async redeem(code: string, at = redirectUri): Promise<Response> {
      return fetch(`${service.baseUrl}/api/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code,
          client_id: clientId,
          redirect_uri: at,
          code_verifier: verifier,
        }),
      })
    },
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

/** Returns the key in a fragment. */
export function keyIn(fragment: string): AppKeyDelivery {
  const delivery = parseAppKeyFragment(fragment)
  if (!delivery) throw new Error(`There is no key in ${fragment}`)
  return delivery
}
