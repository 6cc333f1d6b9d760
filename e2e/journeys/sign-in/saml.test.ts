import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createAuthenticator } from '../../../server/testing/authenticator.ts'
import { startSamlProvider } from '../../../server/testing/saml-provider.ts'
import { serveHere } from '../../../server/testing/service-here.ts'
import { freePorts, type Served } from '../../../server/testing/service.ts'
import { ssoMessages as words } from '../../../web/locales/en/pages/sign-in/sso.ts'
import { invite } from '../../fixtures/person.ts'
import { launchBrowser } from '../../fixtures/environment.ts'

/** Each host has its own name, and the provider is on another site, as usual. */
let service: Served
let provider: Awaited<ReturnType<typeof startSamlProvider>>
let browser: Browser
before(async () => {
  const [api, auth, business] = await freePorts(3)
  const environment = {
    BASE_URL: `http://api.countersign.localhost:${api}`,
    AUTH_URL: `http://auth.countersign.localhost:${auth}`,
    BUSINESS_URL: `http://business.countersign.localhost:${business}`,
  }
  ;[service, provider, browser] = await Promise.all([
    serveHere(environment),
    startSamlProvider(() => new Date()),
    launchBrowser(),
  ])
})
after(async () => {
  await browser.close()
  await provider.close()
  await service.close()
})

/** Calls a host of the service as a program does, for which these names do not resolve. */
async function ask(url: string, body?: object, session: Record<string, string> = {}) {
  const { host, port, pathname } = new URL(url)
  const headers = { host, 'content-type': 'application/json', ...session }
  const sent = request({ host: '127.0.0.1', port, path: pathname, method: body ? 'POST' : 'GET', headers })
  sent.end(body && JSON.stringify(body))
  const [answer] = await once(sent, 'response')
  return text(answer)
}

/** Connects an organization with the provider; returns where a test sign-in starts. */
async function connectProvider(): Promise<string> {
  const { baseUrl, authUrl, businessUrl } = service
  const { hostname: rpId, origin } = new URL(authUrl)
  const requested = { handle: 'ada', displayName: 'Ada Lovelace' }
  const { flowId, options } = JSON.parse(await ask(`${baseUrl}/api/auth/register/start`, requested))
  const credential = createAuthenticator({ origin, rpId }).register(options)
  const registered = JSON.parse(await ask(`${baseUrl}/api/auth/register/finish`, { flowId, credential }))
  const session = { authorization: `Bearer ${registered.sessionToken}` }
  const founding = { name: 'Engines', identityId: registered.identities[0].identityId }
  const { organization } = JSON.parse(await ask(`${businessUrl}/api/organizations`, founding, session))
  const connections = `${businessUrl}/api/organizations/${organization.id}/sso-connections`
  const settings = { name: 'Engines Login', saml: { metadataUrl: provider.metadataUrl } }
  const { connection } = JSON.parse(await ask(connections, settings, session))
  await provider.register(await ask(connection.saml.metadataUrl))
  return JSON.parse(await ask(`${connections}/${connection.connectionId}/test`, {}, session)).url
}

test('the form posted by a provider on another site reaches the sign-in that the browser started', async () => {
  const address = await connectProvider()
  await provider.have({ nameId: 'ada-1815', attributes: { email: 'ada@engines.example', displayName: 'Ada L.' } })
  const { page, leave } = await invite(browser)
  await page.goto(address)
  await page.getByText(words.tested).waitFor()
  for (const fact of ['ada-1815', words.verified('ada@engines.example'), 'Ada L.']) await page.getByText(fact).waitFor()
  assert.ok(page.url().startsWith(`${service.authUrl}/sso/link?`))
  await leave()
})
