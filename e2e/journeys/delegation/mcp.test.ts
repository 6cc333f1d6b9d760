import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { watch } from '../../fixtures/visual-checks.ts'
import { makeCertificate, openMcpClient, openMcpServer } from '../../apps/mcp.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStageWithProcess, type TestEnvironment } from '../../fixtures/environment.ts'
import { consentMessages as consent } from '../../../web/locales/en/pages/sign-in/consent.ts'

let stage: TestEnvironment
let certificate: Awaited<ReturnType<typeof makeCertificate>>
let server: Awaited<ReturnType<typeof openMcpServer>>
let agent: Awaited<ReturnType<typeof openMcpClient>>
before(async () => {
  certificate = await makeCertificate()
  const { certificate: file } = certificate
  stage = await openStageWithProcess({ CLIENT_ID_METADATA_DOCUMENTS: 'on', NODE_EXTRA_CA_CERTS: file })
  ;[server, agent] = await Promise.all([openMcpServer(stage.service), openMcpClient(certificate)])
})
after(async () => {
  await Promise.all([server.close(), agent.close()])
  await stage.close()
  await certificate.remove()
})

/** Opens the page to which the client sends its user, consents there, and returns the code of the redirect. */
async function agree({ page, press, control }: Person, authorizationUrl: URL): Promise<string> {
  await page.goto(authorizationUrl.href)
  await control('approve').waitFor()
  const heading = await page.locator('h1').innerText()
  assert.ok(heading.includes(agent.host) && heading.includes('Paper Shop'), heading)
  await page.getByText(consent.signin.callsItself('Notebook agent')).waitFor()
  await page.getByText(consent.signin.unverified).waitFor()
  await page.getByText(consent.connect.modes.background).waitFor()
  await press('approve')
  await page.waitForURL(`${agent.redirectUrl}?**`)
  return new URL(page.url()).searchParams.get('code') ?? ''
}

async function endDelegation({ page, press }: Person): Promise<void> {
  await page.goto(`${stage.service.authUrl}/account/apps`)
  await page.locator('[data-action="revoke"]').last().click()
  await press('revoke')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

test('the client of the MCP SDK discovers the server, gets consent, acts, refreshes, and is stopped', async () => {
  const first = agent.connect(server.url)
  await assert.rejects(first.client.connect(first.transport), UnauthorizedError)
  const [authorizationUrl] = agent.sentTo
  assert.ok(authorizationUrl)
  const { client_id: clientId, resource, scope } = Object.fromEntries(authorizationUrl.searchParams)
  assert.deepEqual(
    [authorizationUrl.origin, clientId, resource],
    [stage.service.authUrl, agent.clientId, server.url.href],
  )
  assert.equal(scope, 'notes.read offline_access')

  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { look, faults } = await watch(ada, { language: 'en' })
  for (const [width, colorScheme] of [[1280, 'light'] as const, [320, 'dark'] as const]) {
    await ada.page.setViewportSize({ width, height: 740 })
    await ada.page.emulateMedia({ colorScheme })
    await ada.page.goto(authorizationUrl.href)
    await ada.control('approve').waitFor()
    await look(`mcp-consent-${width}-${colorScheme}`)
  }
  assert.deepEqual(faults, [])
  await first.transport.finishAuth(await agree(ada, authorizationUrl))
  assert.deepEqual([agent.tokens()?.expires_in, agent.tokens()?.scope], [600, 'notes.read'])

  const { client, transport } = agent.connect(server.url)
  await client.connect(transport)
  const readNotes = async () => (await client.callTool({ name: 'read-notes' })).content
  assert.deepEqual(await readNotes(), [{ type: 'text', text: 'Buy milk.' }])
  assert.ok(server.callers.at(-1)?.endsWith(` by ${agent.clientId}`))

  agent.spoil()
  assert.deepEqual(await readNotes(), [{ type: 'text', text: 'Buy milk.' }], 'after a refresh')
  assert.equal(agent.sentTo.length, 1, 'without a page')

  await endDelegation(ada)
  await assert.rejects(readNotes(), UnauthorizedError)
  assert.equal(agent.sentTo.length, 2, 'it can only ask the user again')
  await ada.leave()
})
