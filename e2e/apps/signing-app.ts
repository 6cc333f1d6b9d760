import { createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Answer } from '@countersign/protocol/api'
import type { NewSigningRequest } from '@countersign/protocol/signing/signing'
import type { Served } from '../../server/testing/service.ts'

export type SigningApp = Awaited<ReturnType<typeof openSigningApp>>
type Status = Answer<'GET /api/signing/request/:requestId/status'>

/**
 * A small app that acts only on what somebody has signed. Its page shows ours in a popup or in a frame, and notes what
 * it is told; its server believes none of that, asks for the status, and verifies the signature itself. It is
 * registered on a site of its own and on that of the provider; at any other name it is a stranger's page.
 */
export async function openSigningApp(service: Served) {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the app listens on no port')
  const at = (name: string) => `http://${name}:${address.port}`
  const origin = at('approvals.localhost')
  const sameSite = at('localhost')
  server.on('request', (request, response) => answer(service, request, response))
  const app = await post<Answer<'POST /api/admin/apps'>>(`${service.baseUrl}/api/admin/apps`, service.admin, {
    name: 'Approvals',
    redirectUris: [`${origin}/callback`, `${sameSite}/callback`],
  })
  const credentials = { clientId: app.clientId, clientSecret: app.clientSecret ?? '' }

  return {
    app,
    origin,
    sameSite,
    stranger: at('stranger.localhost'),
    ask: (wanted: Omit<NewSigningRequest, 'clientId' | 'clientSecret'>) =>
      post<Answer<'POST /api/signing/request'>>(
        `${service.baseUrl}/api/signing/request`,
        {},
        { ...credentials, ...wanted },
      ),
    /** What became of a request, as the app's server finds out. */
    async read(requestId: string): Promise<Status> {
      const { baseUrl } = service
      const response = await fetch(`${baseUrl}/api/signing/request/${requestId}/status?clientId=${app.clientId}`)
      return (await response.json()) as Status
    },
    /** Whether the person has signed these very bytes. */
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

/** `/` opens popups, `/frame?requestId=…` shows the frame; both keep the messages that they get. */
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
