import { createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { RequestOf, ResponseOf } from '@countersign/protocol/api'
import type { Served } from '../../server/testing/service.ts'

export type SigningApp = Awaited<ReturnType<typeof openSigningApp>>
type Status = ResponseOf<'GET /api/signing/request/:requestId/status'>

/**
 * A small app that relies on signatures. Its page opens ours in a popup or a frame, and records the messages; its
 * server trusts none of them, fetches the status, and verifies the signature itself. It is registered on its own site
 * and on that of the provider; under any other name it is a foreign page.
 */
export async function openSigningApp(service: Served) {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the app has no port')
  const at = (name: string) => `http://${name}:${address.port}`
  const origin = at('approvals.localhost')
  const sameSite = at('localhost')
  server.on('request', (request, response) => answer(service, request, response))
  const app = await post<ResponseOf<'POST /api/admin/apps'>>(`${service.baseUrl}/api/admin/apps`, service.admin, {
    name: 'Approvals',
    redirectUris: [`${origin}/callback`, `${sameSite}/callback`],
  })
  const credentials = { clientId: app.clientId, clientSecret: app.clientSecret ?? '' }

  return {
    app,
    origin,
    sameSite,
    foreign: at('stranger.localhost'),
    ask: (requested: Omit<RequestOf<'POST /api/signing/request'>['body'], 'clientId' | 'clientSecret'>) =>
      post<ResponseOf<'POST /api/signing/request'>>(
        `${service.baseUrl}/api/signing/request`,
        {},
        { ...credentials, ...requested },
      ),
    /** The status of a request, as the app's server gets it. */
    async read(requestId: string): Promise<Status> {
      const { baseUrl } = service
      const response = await fetch(`${baseUrl}/api/signing/request/${requestId}/status?clientId=${app.clientId}`)
      return (await response.json()) as Status
    },
    /** Checks that the user has signed exactly these bytes. */
    accepts({ signature = '', publicKey = '' }: Pick<Status, 'signature' | 'publicKey'>, payload: string): boolean {
      const x = Buffer.from(publicKey, 'base64').toString('base64url')
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
      return verify(null, Buffer.from(payload, 'utf8'), key, Buffer.from(signature, 'base64'))
    },
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

async function post<T>(url: string, headers: Record<string, string>, body: object): Promise<T> {
  const sent = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  const response = await fetch(url, sent)
  if (!response.ok) throw new Error(`${url} answered ${await response.text()}`)
  return (await response.json()) as T
}

/** `/` opens popups, `/frame?requestId=…` shows the frame; both record the messages that they receive. */
function answer({ authUrl }: Served, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const requestId = encodeURIComponent(url.searchParams.get('requestId') ?? '')
  const frame = `<iframe title="Sign" width="600" height="900" allow="publickey-credentials-get"
    src="${authUrl}/sign?requestId=${requestId}&amp;embed=1"></iframe>`
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
  response.end(`<!doctype html><html lang="en"><title>Approvals</title><h1>Approvals</h1>
    <p id="cover" hidden style="position:fixed;inset:0;background:#fff;pointer-events:none">You have won!</p>
    ${url.pathname === '/frame' ? frame : ''}
    <script>
      const messages = []
      addEventListener('message', ({ origin, data }) => messages.push({ origin, data }))
      const openSigning = (requestId) => void open('${authUrl}/sign?requestId=' + requestId, 'sign', 'popup')
    </script></html>`)
}
