import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import type { Answer } from '@countersign/protocol/api'
import { ask, createRemotePerson } from '../server/testing/remote-signer.ts'
import { startService, type Service } from '../server/testing/service.ts'
import { makeCertificate, openMcpClient, openMcpServer } from './mcp.ts'

let service: Service
let certificate: Awaited<ReturnType<typeof makeCertificate>>
let server: Awaited<ReturnType<typeof openMcpServer>>
let agent: Awaited<ReturnType<typeof openMcpClient>>
before(async () => {
  certificate = await makeCertificate()
  const { certificate: file } = certificate
  service = await startService({ environment: { CLIENT_ID_METADATA_DOCUMENTS: 'on', NODE_EXTRA_CA_CERTS: file } })
  ;[server, agent] = await Promise.all([openMcpServer(service), openMcpClient(certificate)])
})
after(async () => {
  await Promise.all([server.close(), agent.close()])
  await service.close()
  await certificate.remove()
})

type RemotePerson = Awaited<ReturnType<typeof createRemotePerson>>

/** Does what the page does for a person who agrees to all of it; answers the code that the client gets. */
async function agree({ headers, identityId }: RemotePerson, asked: URL): Promise<string> {
  const page = await (await fetch(asked)).text()
  const { app, redirectUri, codeChallenge, scope, connector } = JSON.parse(
    /id="view">(.*)<\/script>/.exec(page)?.[1] ?? '',
  )
  const json = {
    ...{ clientId: app.clientId, redirectUri, codeChallenge, identityId, scope: scope.join(' '), connector: true },
    requestedResource: connector.resourceKey,
    requestedScope: connector.scopes.map((each: { scope: string }) => each.scope).join(' '),
    communicationMode: connector.mode,
  }
  const { redirectUrl } = await ask<Answer<'POST /api/oauth/authorize'>>(service, '/api/oauth/authorize', {
    headers,
    json,
  })
  return new URL(redirectUrl).searchParams.get('code') ?? ''
}

async function read<Body>({ headers }: RemotePerson, path: string, method = 'GET'): Promise<Body> {
  const response = await fetch(service.baseUrl + path, { method, headers })
  assert.ok(response.ok, `${path} answered ${response.status}`)
  return (response.status === 204 ? undefined : await response.json()) as Body
}

test('the client of the MCP SDK finds its way, is agreed to, acts, goes on, and is stopped', async () => {
  const { client, transport } = agent.connect(server.url)
  await assert.rejects(client.connect(transport), UnauthorizedError)
  const [asked] = agent.sentTo
  assert.ok(asked)
  const { client_id: clientId, resource, scope } = Object.fromEntries(asked.searchParams)
  assert.deepEqual([asked.origin, clientId, resource], [service.authUrl, agent.clientId, server.url.href])
  assert.equal(scope, 'notes.read offline_access')

  const ada = await createRemotePerson(service)
  await transport.finishAuth(await agree(ada, asked))
  assert.deepEqual(agent.tokens()?.expires_in, 600)
  assert.equal(agent.tokens()?.scope, 'notes.read')

  const connected = agent.connect(server.url)
  await connected.client.connect(connected.transport)
  const call = () => connected.client.callTool({ name: 'read-notes' })
  assert.deepEqual((await call()).content, [{ type: 'text', text: 'Buy milk.' }])
  assert.match(server.callers.at(-1) ?? '', new RegExp(` by ${RegExp.escape(agent.clientId)}$`))

  agent.spoil()
  assert.deepEqual((await call()).content, [{ type: 'text', text: 'Buy milk.' }], 'after a refresh')
  assert.equal(agent.sentTo.length, 1, 'which asks nobody')

  const { delegations } = await read<Answer<'GET /api/oauth/delegations'>>(ada, '/api/oauth/delegations')
  assert.deepEqual(
    delegations.map(({ sourceAppName, targetAudience }) => [sourceAppName, targetAudience]),
    [['Notebook agent', server.url.href]],
  )
  await read(ada, `/api/oauth/delegations/${delegations[0]?.id}`, 'DELETE')
  await assert.rejects(call(), UnauthorizedError)
  assert.equal(agent.sentTo.length, 2, 'it may only ask the person again')
})
