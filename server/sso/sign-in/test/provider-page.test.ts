import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { flowOf, newClaims, openEnterprise, providerViewIn, type Enterprise } from '#testing/enterprise.ts'
import { startSamlProvider } from '#testing/saml-provider.ts'

let enterprise: Enterprise
let world: Enterprise['world']
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
})
after(() => enterprise.close())

type Start = Awaited<ReturnType<ReturnType<Enterprise['browser']>['start']>>

const host = (address: string) => new URL(address).host

/** Checks that the browser is redirected to the provider at once. */
function isLed(answer: Start, what: string): void {
  const led = [answer.statusCode, host(answer.headers.location ?? '')]
  assert.deepEqual(led, [303, host(enterprise.upstream.issuer)], what)
}

/** Checks that the page shows the organization and the provider's address. */
function isShown(answer: Start, organization: string, what = organization): void {
  const view = providerViewIn(answer)
  const shown = [view.organization, host(view.leaving.url), answer.headers.location]
  assert.deepEqual(shown, [organization, host(enterprise.upstream.issuer), undefined], what)
}

const fromElsewhere = (connectionId: string, query: Record<string, string> = {}) =>
  enterprise.browser().start(connectionId, query, 'cross-site')

test('SIN-10 a link from another site redirects only to a provider that its organization vouches for', async () => {
  const evil = await enterprise.organization(await world.person(), 'Evil Inc')
  const { connectionId } = await enterprise.connect(evil)
  isShown(await fromElsewhere(connectionId), 'Evil Inc')
  await enterprise.confirm(evil, connectionId)
  isShown(await fromElsewhere(connectionId), 'Evil Inc', 'without a verified domain')

  const acme = await enterprise.organization(await world.person())
  const { domainId } = await enterprise.verifyDomain(acme, 'acme.example')
  const connection = await enterprise.connect(acme, { domains: ['acme.example'] })
  isShown(await fromElsewhere(connection.connectionId), 'Acme', 'not confirmed')
  await enterprise.confirm(acme, connection.connectionId)
  isLed(await fromElsewhere(connection.connectionId), 'confirmed, with a domain')
  const removed = await enterprise.send(acme.owner, 'DELETE', `/${acme.organizationId}/domains/${domainId}`)
  assert.equal(removed.statusCode, 204, removed.body)
  isShown(await fromElsewhere(connection.connectionId), 'Acme', 'the domain is lost')
})

test('SIN-10 the same applies to SAML, with the URL from the metadata', async (t) => {
  const idp = await startSamlProvider(world.now)
  t.after(() => idp.close())
  const evil = await enterprise.organization(await world.person(), 'Evil SAML')
  const made = await enterprise.send(evil.owner, 'POST', `/${evil.organizationId}/sso-connections`, {
    name: 'SAML',
    saml: { metadata: await idp.metadata(0) },
  })
  const { connection } = made.json<{ connection: SsoConnection }>()
  const view = providerViewIn(await fromElsewhere(connection.connectionId))
  assert.equal(view.organization, 'Evil SAML')
  assert.equal(host(view.leaving.url), host(connection.saml?.ssoUrl ?? ''))
  assert.ok(new URL(view.leaving.url).searchParams.has('SAMLRequest'))
})

test('SIN-10 a sign-in continues from that page, and is confirmed as before', async () => {
  const owner = await world.person()
  const acme = await enterprise.organization(owner, 'Globex')
  await enterprise.verifyDomain(acme, 'globex.example')
  const { connectionId } = await enterprise.connect(acme, { domains: ['globex.example'] })
  const { claims } = await enterprise.colleague(connectionId, newClaims({ email: 'ann@globex.example' }))
  const browser = enterprise.browser()
  const { leaving } = providerViewIn(await browser.start(connectionId, {}, 'cross-site'))
  const arrived = await browser.follow(enterprise.upstream.approve(leaving.url, claims).href)
  assert.equal(new URL(arrived.headers.location ?? '').pathname, '/sso/confirm')
  assert.ok(flowOf(arrived))
})

test('SIN-10 a test sign-in from another site shows the page too', async () => {
  const evil = await enterprise.organization(await world.person(), 'Evil Tests')
  const { connectionId } = await enterprise.connect(evil)
  const offer = async () => {
    const path = `/${evil.organizationId}/sso-connections/${connectionId}/test`
    const offered = await enterprise.send({ headers: await evil.owner.signIn() }, 'POST', path)
    return { test: new URL(offered.json<{ url: string }>().url).searchParams.get('test') ?? '' }
  }
  isShown(await fromElsewhere(connectionId, await offer()), 'Evil Tests')
  isLed(await enterprise.browser().start(connectionId, await offer(), 'same-site'), 'from the page of the organization')
})

test('SIN-10 a sign-in that no other site started redirects at once', async () => {
  const small = await enterprise.organization(await world.person(), 'Small')
  const { connectionId } = await enterprise.connect(small)
  for (const site of ['none', 'same-origin', 'same-site', 'absent'] as const)
    isLed(await enterprise.browser().start(connectionId, {}, site), site)
  const begun = await enterprise.browser().page('POST', `/api/sso/${connectionId}/start`, {})
  assert.equal(host(begun.json().url), host(enterprise.upstream.issuer))
})
