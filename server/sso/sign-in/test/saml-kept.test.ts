import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { startSamlProvider } from '#testing/saml-provider.ts'
import { pruneAssertions } from '#sso/sign-in/flow.ts'

let enterprise: Enterprise
let provider: Awaited<ReturnType<typeof startSamlProvider>>
before(async () => {
  enterprise = await openEnterprise()
  provider = await startSamlProvider(enterprise.world.now)
})
after(async () => {
  await provider.close()
  await enterprise.close()
})

test('SML-24 an assertion that is valid until the year 9999 is stored no longer than a sign-in', async () => {
  const { world } = enterprise
  const owner = await world.person()
  const { organizationId } = await enterprise.organization(owner)
  const requested = { name: 'Acme', saml: { metadataUrl: provider.metadataUrl } }
  const made = await enterprise.send(owner, 'POST', `/${organizationId}/sso-connections`, requested)
  assert.equal(made.statusCode, 201, made.body)
  const { connectionId } = made.json().connection
  await provider.register((await world.api.inject({ url: `/api/sso/${connectionId}/metadata` })).body)
  const browser = enterprise.browser()
  const { location = '' } = (await browser.start(connectionId)).headers
  const otherwise = { SubjectConfirmationDataNotOnOrAfter: '9999-12-31T23:59:59Z' }
  const form = await provider.approve(location, { nameId: randomUUID(), attributes: {}, otherwise })
  const answer = await browser.follow(form.action, form.fields)
  assert.equal(answer.statusCode, 303, answer.body)
  assert.equal(await pruneAssertions(world.db, world.now(), 100), 0)
  world.pass(600)
  assert.equal(await pruneAssertions(world.db, world.now(), 100), 1)
})
