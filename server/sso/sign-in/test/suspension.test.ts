import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { flowOf, openEnterprise, refusalIn, type Enterprise } from '#testing/enterprise.ts'
import { activate, sibling, suspend } from '#testing/operators.ts'

let enterprise: Enterprise
before(async () => {
  enterprise = await openEnterprise()
})
after(() => enterprise.close())

test('SUS-04 an organization reads by its provider only the reason of its own member, not of a sibling', async () => {
  const { world } = enterprise
  const organization = await enterprise.organization(await world.person())
  await enterprise.verifyDomain(organization, 'acme.example')
  const { connectionId } = await enterprise.connect(organization, { domains: ['acme.example'] })
  await enterprise.confirm(organization, connectionId)
  const { person, claims } = await enterprise.colleague(connectionId)
  const other = await sibling(world, person)
  const until = new Date(world.now().getTime() + 3_600_000).toISOString()
  /** Signs in at the provider until the user is to confirm, and confirms once the account is suspended. */
  const signInWhile = async (suspended: typeof person, reason: string) => {
    const browser = enterprise.browser()
    const flowId = flowOf(await browser.signIn(connectionId, claims, {}, 'cross-site'))
    const shown = { handle: person.handle }
    await suspend(world, suspended, { reason, until })
    const url = `/api/sso/arrivals/${flowId}/confirm`
    const confirmed = await browser.page('POST', url, shown)
    const arrived = await enterprise.browser().signIn(connectionId, claims)
    assert.deepEqual(refusalIn(arrived), [403, 'account_suspended'])
    return { confirmed: confirmed.json(), text: `${confirmed.body}${arrived.body}` }
  }
  const bySibling = await signInWhile(other, 'Secret of the sibling')
  assert.equal(bySibling.confirmed.error, 'account_suspended')
  assert.deepEqual([bySibling.confirmed.reason, bySibling.confirmed.until], [undefined, undefined])
  assert.ok(!bySibling.text.includes('Secret') && !bySibling.text.includes(until), bySibling.text)
  await activate(world, other)

  const own = await signInWhile(person, 'Left Acme')
  assert.deepEqual([own.confirmed.reason, own.confirmed.until], ['Left Acme', until])
})
