import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { createResource } from '../../sdk/src/resource/resource.ts'
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { startDocumentHost } from '../../server/testing/document-host.ts'
import { ask, registerRemoteApp } from '../../server/testing/remote-signer.ts'
import { freePorts, type Served } from '../../server/testing/service.ts'

/** A certificate for localhost, as files: a service trusts it by `NODE_EXTRA_CA_CERTS`. */
export async function makeCertificate() {
  const directory = await mkdtemp(join(tmpdir(), 'countersign-certificate-'))
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')]
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-days', '2'],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate],
  ])
  return {
    certificate,
    read: async () => ({ key: await readFile(key), cert: await readFile(certificate) }),
    remove: () => rm(directory, { recursive: true }),
  }
}

/** An MCP server with one tool, which is registered as a resource and publishes its metadata (RFC 9728). */
export async function openMcpServer(service: Served) {
  const { clientId, clientSecret } = await registerRemoteApp(service, 'https://notes.example/callback')
  const [port] = await freePorts(1)
  const audience = `http://localhost:${port}/mcp`
  await ask(service, `/api/admin/apps/${clientId}/resources`, {
    headers: service.admin,
    json: { resourceKey: 'notes', displayName: 'Your notes', scopes: ['notes.read'], audience },
  })
  const resource = createResource({
    authUrl: service.authUrl,
    audience,
    metadata: { scopes: ['notes.read', 'offline_access'], name: 'Notes' },
    introspect: { baseUrl: service.baseUrl, clientId, clientSecret, everySeconds: 0 },
  })
  const describe = resource.expressMetadata()
  const guard = resource.express({ scope: 'notes.read' })
  const callers: string[] = []

  const server = createServer((request, response) => {
    const fail = (error: unknown) => void response.writeHead(500).end(String(error))
    describe(request, response, () => {
      void guard(request, response, (error) => {
        if (error !== undefined) return fail(error)
        const who = Reflect.get(request, 'delegated')
        callers.push(`${who.identityId} by ${who.sourceClientId}`)
        answer().catch(fail)
      })
    })

    async function answer(): Promise<void> {
      const mcp = new McpServer({ name: 'notes', version: '1.0.0' })
      mcp.registerTool('read-notes', { description: 'Reads the notes' }, () => ({
        content: [{ type: 'text', text: 'Buy milk.' }],
      }))
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
      response.on('close', () => void transport.close())
      await mcp.connect(transport)
      const body = await text(request)
      await transport.handleRequest(request, response, body === '' ? undefined : JSON.parse(body))
    }
  }).listen(port)
  await once(server, 'listening')
  return {
    url: new URL(audience),
    callers,
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

/** An unregistered MCP client: its metadata document, and its stored tokens. */
export async function openMcpClient(certificate: Awaited<ReturnType<typeof makeCertificate>>) {
  const host = await startDocumentHost(createSecureServer(await certificate.read()))
  const clientId = `https://localhost:${host.port}/client.json`
  const callback = await startDocumentHost()
  callback.answer('/callback', { headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Continue there.' })
  const redirectUrl = `http://127.0.0.1:${callback.port}/callback`
  const described = {
    client_name: 'Notebook agent',
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  }
  host.answer('/client.json', { body: JSON.stringify({ client_id: clientId, ...described }) })

  let information: OAuthClientInformationMixed | undefined
  let tokens: OAuthTokens | undefined
  let verifier = ''
  const sentTo: URL[] = []
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadataUrl: clientId,
    clientMetadata: described,
    state: () => 's1',
    clientInformation: () => information,
    saveClientInformation: (saved) => void (information = saved),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    redirectToAuthorization: (url) => void sentTo.push(url),
    saveCodeVerifier: (saved) => void (verifier = saved),
    codeVerifier: () => verifier,
    invalidateCredentials: () => void (tokens = undefined),
  }
  return {
    clientId,
    redirectUrl,
    host: `localhost:${host.port}`,
    /** The URLs to which it has sent its user, the latest last. */
    sentTo,
    tokens: () => tokens,
    /** Makes its access token invalid, as if it had expired. */
    spoil: () => void (tokens = tokens && { ...tokens, access_token: 'expired' }),
    connect: (url: URL) => ({
      client: new Client({ name: 'agent', version: '1.0.0' }),
      transport: new StreamableHTTPClientTransport(url, { authProvider: provider }),
    }),
    close: () => Promise.all([host.close(), callback.close()]),
  }
}
