import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, test } from 'node:test'
import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { freePorts } from '#testing/service.ts'
import { createWorld, newChallenge, type Person, type TestWorld } from '#testing/world.ts'
import { startSender } from '#clients/webhooks/sender.ts'

/** Under public URLs: a service on localhost may connect to localhost. */
const environment = {
  BASE_URL: 'https://api.id.example.com',
  AUTH_URL: 'https://id.example.com',
  BUSINESS_URL: 'https://business.id.example.com',
  ALLOW_EMBEDDED: '1',
  CLIENT_ID_METADATA_DOCUMENTS: 'on',
  DEVELOPER_PORTAL: 'on',
}

let world: TestWorld
let person: Person
let organizationId: string
let ownClientId: string
let canary: Awaited<ReturnType<typeof listenOnLoopback>>
before(async () => {
  world = await createWorld({ environment })
  person = await world.person()
  organizationId = (await createOrganization(world, person)).id
  const payload = { name: 'Own', redirectUris: ['https://app.example/callback'] }
  const own = await world.api.inject({ method: 'POST', url: '/api/developer/apps', headers: person.headers, payload })
  ownClientId = own.json().clientId
  canary = await listenOnLoopback()
})
after(async () => {
  await world.close()
  canary.close()
})

/** Listens on a port of both loopback addresses and counts connections. */
async function listenOnLoopback() {
  const [port = 0] = await freePorts(1)
  let callers = 0
  const servers = ['127.0.0.1', '::1'].map((host) => {
    return createServer((socket) => {
      callers += 1
      socket.destroy()
    }).listen(port, host)
  })
  await Promise.all(servers.map((server) => once(server, 'listening')))
  return { port, callers: () => callers, close: () => servers.forEach((server) => void server.close()) }
}

/** This machine, in every spelling that some parser accepts. */
const spellings =
  '127.0.0.1 localhost LOCALHOST localhost. app.localhost 127.1 127.0.1 127.0.0.1. 127.8.9.10 0 0.0.0.0 2130706433 ' +
  '0x7f000001 0x7f.1 0x7f.0.0.1 017700000001 0177.0.0.1 0177.1 %31%32%37.0.0.1 １２７.0.0.1 ①②⑦.0.0.1 127。0。0。1 ' +
  '[::1] [0:0:0:0:0:0:0:1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:0:127.0.0.1] [::127.0.0.1] ' +
  '[64:ff9b::7f00:1] [2002:7f00:1::]'

const urlsOf = (path: string) =>
  spellings
    .split(' ')
    .flatMap((name) => [
      `https://${name}:${canary.port}${path}`,
      `http://${name}:${canary.port}${path}`,
      `https://a.example@${name}:${canary.port}${path}`,
    ])

const connect = (payload: object) =>
  businessRequest(world, person, `POST /organizations/${organizationId}/sso-connections`, payload)
const oidc = (issuer: string) => ({ name: 'A', protocol: 'oidc', oidc: { issuer, clientId: 'a', clientSecret: 'b' } })
const saml = (metadataUrl: string) => ({ name: 'A', protocol: 'saml', saml: { metadataUrl } })

/** Every place where a user can set a URL that the service requests; each returns the result. */
const places: Record<string, (url: string, app: { clientId: string }) => Promise<{ statusCode: number }>> = {
  'the issuer of an organization': (url) => connect(oidc(url)),
  'the SAML metadata of an organization': (url) => connect(saml(url)),
  'the KMS of an organization': (url) =>
    businessRequest(world, person, `PUT /organizations/${organizationId}/kms`, { url }),
  'the webhook of an app': (url, { clientId }) =>
    world.api.inject({
      method: 'PUT',
      url: `/api/admin/apps/${clientId}/webhook`,
      headers: world.admin,
      payload: { url },
    }),
  'the webhook of an app of a person': (url) =>
    world.api.inject({
      method: 'PUT',
      url: `/api/developer/apps/${ownClientId}/webhook`,
      headers: person.headers,
      payload: { url },
    }),
  'the document of an app that describes itself': (url) => {
    const query = new URLSearchParams({
      client_id: url,
      redirect_uri: 'https://app.example/callback',
      response_type: 'code',
      code_challenge: newChallenge().challenge,
      code_challenge_method: 'S256',
    })
    return world.auth.inject({ url: `/signin?${query}`, headers: { accept: 'text/html' } })
  },
}
for (const [place, name] of Object.entries(places))
  test(`SRF-01 SRF-02 ${place} reaches nothing on this machine, in any spelling`, async () => {
    const app = await world.app()
    const urls = urlsOf('/path')
    const answers = await Promise.all(urls.map(async (url) => ({ url, ...(await name(url, app)) })))
    for (const { url, statusCode } of answers) assert.equal(statusCode, 400, url)
    assert.equal(canary.callers(), 0)
  })

test('BCL-01 SRF-01 SRF-02 the logout URI of an app cannot be a private address or this machine', async () => {
  const elsewhere = ['10.0.0.7', '192.168.1.1', '169.254.169.254', '[fd00::1]', '[::ffff:10.0.0.7]']
  const urls = [...urlsOf('/out'), ...elsewhere.map((host) => `https://${host}/out`)]
  const { clientId } = await world.app()
  const managers = [
    { path: '/api/admin/apps', headers: world.admin },
    { path: '/api/developer/apps', headers: person.headers },
  ]
  for (const backchannelLogoutUri of urls) {
    const payload = { name: 'An app', redirectUris: ['https://app.example/callback'], backchannelLogoutUri }
    for (const { path, headers } of managers) {
      const created = await world.api.inject({ method: 'POST', url: path, headers, payload })
      assert.deepEqual([created.statusCode, created.json().error], [400, 'invalid_request'], backchannelLogoutUri)
    }
    const change = { method: 'PATCH', url: `/api/admin/apps/${clientId}`, headers: world.admin } as const
    const changed = await world.api.inject({ ...change, payload: { backchannelLogoutUri } })
    assert.deepEqual([changed.statusCode, changed.json().error], [400, 'invalid_request'], backchannelLogoutUri)
  }
  assert.equal(canary.callers(), 0)
})

test("SRF-01 URLs in an app's metadata are shown and never fetched", async () => {
  const url = `https://127.0.0.1:${canary.port}/logo.png`
  const app = await world.app({ iconUrl: url, websiteUrl: url, privacyUrl: url, termsUrl: url, redirectUris: [url] })
  const query = new URLSearchParams({
    client_id: app.clientId,
    redirect_uri: url,
    response_type: 'code',
    code_challenge: newChallenge().challenge,
    code_challenge_method: 'S256',
  })
  const page = await world.auth.inject({ url: `/signin?${query}`, headers: { accept: 'text/html' } })
  assert.equal(page.statusCode, 200)
  assert.equal((await world.api.inject({ url: `/api/oauth/app/${app.clientId}` })).statusCode, 200)
  assert.equal(canary.callers(), 0)
})

/** Returns the first delivery attempt of a webhook with this stored URL, after the owner requests a test. */
async function attemptAt(url: string) {
  const app = await world.app()
  const path = `/api/admin/apps/${app.clientId}/webhook`
  const ask = (method: 'GET' | 'PUT' | 'POST', end: string, payload?: object) =>
    world.api.inject({ method, url: `${path}${end}`, headers: world.admin, ...(payload && { payload }) })
  assert.equal((await ask('PUT', '', { url: 'https://app.example/hook' })).statusCode, 200)
  await world.db.updateTable('webhook_endpoint').set({ url }).where('client_id', '=', app.clientId).execute()
  const began = performance.now()
  await ask('POST', '/test')
  for (;;) {
    const { deliveries } = (await ask('GET', '/deliveries')).json<{ deliveries: WebhookDelivery[] }>()
    const [attempt] = deliveries[0]?.attempts ?? []
    if (attempt) return { url, attempt, took: performance.now() - began }
    await pause(10)
  }
}

test('SRF-08 WHK-04 a webhook owner cannot detect hosts, neither by answers nor by time', async (t) => {
  const sender = startSender(world.kernel)
  t.after(() => sender.stop())
  const urls = [
    `https://127.0.0.1:${canary.port}/`,
    'https://127.0.0.1:9/',
    `https://localhost:${canary.port}/`,
    'https://no-such-host.invalid/',
    'https://no-such-host.localhost/',
  ]
  const seen = await Promise.all(urls.map(attemptAt))
  for (const { url, attempt, took } of seen) {
    assert.deepEqual([attempt.status, attempt.reason], [null, 'could_not_connect'], url)
    assert.ok(took >= 1000, `${url} after ${took} ms`)
  }
  assert.equal(canary.callers(), 0)
})
