import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AccountExport } from '@countersign/protocol/accounts/account'
import { countDeadlocks } from '#testing/deadlocks.ts'
import { flowOf, linkAs, newClaims, openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { join } from '#testing/organization.ts'

const deadlocks = countDeadlocks()
let enterprise: Enterprise
before(async () => {
  enterprise = await openEnterprise({ between: deadlocks.between })
})
after(() => enterprise.close())

test('SES-17 sign-ins by SSO and the deletion of the account do not wait for each other', async () => {
  const { world } = enterprise
  const owner = await world.person()
  const organization = await enterprise.organization(owner)
  await enterprise.verifyDomain(organization, 'acme.example')
  const { connectionId } = await enterprise.connect(organization)
  await enterprise.confirm(organization, connectionId)
  for (let round = 0; round < 3; round += 1) {
    const [person, claims, browser] = [await world.person(), newClaims(), enterprise.browser()]
    await join(world, { id: organization.organizationId, owner, role: 'member' }, person)
    browser.bring(person)
    const linked = await linkAs(browser, flowOf(await browser.signIn(connectionId, claims)), person.identityId)
    assert.equal(linked.statusCode, 200, linked.body)
    const exported = await world.api.inject({ url: '/api/account/export', headers: person.headers })
    assert.deepEqual(
      exported
        .json<AccountExport>()
        .identities[0]?.ssoLinks.map((link) => [link.connectionId, link.organizationId, link.subject]),
      [[connectionId, organization.organizationId, claims.sub]],
    )
    deadlocks.setDistance(2)
    const deletion = new AbortController()
    const signIns = Array.from({ length: 3 }, async () => {
      while (!deletion.signal.aborted)
        assert.notEqual((await enterprise.browser().signIn(connectionId, claims)).statusCode, 503)
    })
    const request = { method: 'DELETE', url: '/api/account', headers: person.headers } as const
    const deleted = await world.api.inject(request)
    deletion.abort()
    await Promise.all(signIns)
    deadlocks.setDistance(0)
    assert.equal(deleted.statusCode, 204, deleted.body)
  }
  assert.equal(deadlocks.count(), 0)
})
