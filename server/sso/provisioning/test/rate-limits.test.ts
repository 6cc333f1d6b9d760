import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { startSamlProvider } from '#testing/saml-provider.ts'

let enterprise: Enterprise
let world: Enterprise['world']
before(async () => {
  enterprise = await openEnterprise({ rateLimits: true })
  ;({ world } = enterprise)
})
after(() => enterprise.close())

/** Checks that a number of requests is allowed, and the next one is not. */
async function countPassing(points: number, ask: () => Promise<{ statusCode: number }>): Promise<number> {
  const statuses: number[] = []
  for (let tries = 0; tries < points + 2; tries += 1) statuses.push((await ask()).statusCode)
  assert.deepEqual(statuses.slice(points), [429, 429])
  return statuses.filter((status) => status !== 429).length
}

test('GRW-14 starting SSO sign-ins is limited to 30 a minute from one address', async () => {
  const acme = await enterprise.organization(await world.person())
  const { connectionId } = await enterprise.connect(acme)
  const start = (remoteAddress: string) =>
    world.api.inject({ url: `/api/sso/${connectionId}/start`, remoteAddress, headers: { accept: 'text/html' } })
  assert.equal(await countPassing(30, () => start('192.0.2.66')), 30)
  assert.equal((await start('192.0.2.67')).statusCode, 303)
  world.pass(60)
  assert.equal((await start('192.0.2.66')).statusCode, 303)
})

test('home realm discovery is limited to 30 a minute from one address', async () => {
  const payload = { email: 'ann@nobody.example' }
  const discover = (remoteAddress: string) =>
    world.api.inject({ method: 'POST', url: '/api/sso/discover', remoteAddress, payload })
  assert.equal(await countPassing(30, () => discover('192.0.2.66')), 30)
  assert.equal((await discover('192.0.2.67')).statusCode, 404)
  world.pass(60)
  assert.equal((await discover('192.0.2.66')).statusCode, 404)
})

test('requests to providers are limited to 30 an hour for each organization', async () => {
  const { issuer, clientId, clientSecret } = enterprise.upstream
  const payload = { name: 'Acme Login', oidc: { issuer, clientId, clientSecret } }
  const acme = await enterprise.organization(await world.person())
  const globex = await enterprise.organization(await world.person(), 'Globex')
  const connect = ({ owner, organizationId }: typeof acme) =>
    enterprise.send(owner, 'POST', `/${organizationId}/sso-connections`, payload)
  assert.equal(await countPassing(30, () => connect(acme)), 30)
  assert.equal((await connect(globex)).statusCode, 201)
})

test('SCM-02 wrong tokens are limited to 30 a minute from one address, and do not block valid ones', async () => {
  const acme = await enterprise.organization(await world.person())
  const { connectionId } = await enterprise.connect(acme)
  const { ask } = await enterprise.provision(acme, connectionId)
  const guess = () => world.api.inject({ url: `/scim/v2/${connectionId}/Users` })
  assert.equal(await countPassing(30, guess), 30)
  assert.equal((await ask('GET', '/Users')).statusCode, 200)
  world.pass(60)
  assert.equal((await guess()).statusCode, 401)
})

test('claiming domains is limited to 100 an hour for each organization, and removing them is not', async () => {
  const { owner, organizationId } = await enterprise.organization(await world.person())
  const path = `/${organizationId}/domains`
  const claim = () => enterprise.send(owner, 'POST', path, { domain: 'acme.example' })
  const { domainId } = (await claim()).json().domain
  assert.equal(await countPassing(99, claim), 99)
  assert.equal((await enterprise.send(owner, 'DELETE', `${path}/${domainId}`)).statusCode, 204)
})

test("GRW-33 only responses signed by the organization's provider count towards the limit", async () => {
  const numbers = { 'signed-saml-responses-per-organization': 4, 'saml-responses': 1000, 'sso-starts': 1000 }
  const given = Object.entries(numbers).map((pair) => pair.join('='))
  const limited = await openEnterprise({ rateLimits: true, environment: { RATE_LIMIT_NUMBERS: given.join(',') } })
  const idp = await startSamlProvider(limited.world.now)
  try {
    const connect = async (name: string) => {
      const organization = await limited.organization(await limited.world.person(), name)
      const path = `/${organization.organizationId}/sso-connections`
      const payload = { name: `${name} SAML`, saml: { metadata: await idp.metadata(0) } }
      const made = await limited.send(organization.owner, 'POST', path, payload)
      return made.json<{ connection: SsoConnection }>().connection
    }
    const [acme, globex] = [await connect('Acme'), await connect('Globex')]
    /** Sends sign-in responses, each from another browser; `key` 1 does not belong to the connection. */
    const answer = async ({ connectionId }: SsoConnection, key: 0 | 1 = 0) => {
      const browser = limited.browser()
      await idp.register((await limited.world.api.inject({ url: `/api/sso/${connectionId}/metadata` })).body)
      const { location = '' } = (await browser.start(connectionId)).headers
      const { action, fields } = await idp.approve(location, { nameId: randomUUID(), attributes: {}, key })
      return (await browser.post(action, fields)).statusCode
    }

    for (let tries = 0; tries < 6; tries += 1) assert.equal(await answer(acme, 1), 401)
    assert.equal(await countPassing(4, async () => ({ statusCode: await answer(acme) })), 4)
    assert.equal(await answer(globex), 303)
    limited.world.pass(60)
    assert.equal(await answer(acme), 303)
  } finally {
    await idp.close()
    await limited.close()
  }
})

test('GRW-51 failed sign-ins, which anyone can cause, add at most 20 audit events an hour', async () => {
  const acme = await enterprise.organization(await world.person())
  const { connectionId } = await enterprise.connect(acme)
  const fail = async (nth: number) => {
    const [browser, remoteAddress] = [enterprise.browser(), `198.51.100.${nth}`]
    const started = await world.api.inject({ url: `/api/sso/${connectionId}/start`, remoteAddress })
    const [cookie = ''] = [started.headers['set-cookie'] ?? ''].flat()
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
    browser.cookies.set(name, value)
    const claims = { aud: 'another client' }
    const back = enterprise.upstream.approve(started.headers.location ?? '', { sub: randomUUID() }, { claims })
    return (await browser.get(back.href)).statusCode
  }
  const recorded = async () => {
    const received = await enterprise.send(acme.owner, 'GET', `/${acme.organizationId}/audit?limit=100`)
    return received
      .json<{ entries: { action: string }[] }>()
      .entries.filter(({ action }) => action === 'sso.login.failed').length
  }
  for (let nth = 1; nth <= 24; nth += 1) assert.equal(await fail(nth), 401)
  assert.equal(await recorded(), 20)
  world.pass(3600)
  assert.equal(await fail(25), 401)
  assert.equal(await recorded(), 21)
})
